import Foundation

@testable import Holdfast

/// A log list, as it is read after its signature check.
func examineLogList(_ input: [UInt8]) {
    let list: TransparencyLogList
    do throws(DocumentError) {
        list = try TransparencyLogList(json: Data(input))
    } catch {
        require(!error.remedy.isEmpty, "an error says what to do")
        return
    }
    require(isJSON(input), "a log list is JSON")
    require(list.logs.count <= LogListReader.maximumLogs, "logs are bounded")
    for log in list.logs {
        require(log.identifier == SHA256Digest.of(log.key.der), "a log is found by its key")
        require(list.log(withIdentifier: log.identifier[...]) == log, "a log is found")
        require(log.name.utf8.count <= LogListReader.maximumName, "names are bounded")
        _ = log.operatorName(at: 0)
    }
}

/// The value of the extension with timestamps.
func examineTimestamps(_ input: [UInt8]) {
    guard let readings = try? SignedCertificateTimestamp.readAll(0..<input.count, of: input) else { return }
    let scene = ChainScene.shared
    guard let leaf = scene.chain.first.flatMap({ try? X509Certificate(der: $0) }),
        let precertificate = try? Precertificate(of: leaf, issuedBy: scene.root),
        let log = try? TransparencyLog(
            name: "log", key: Array(scene.root.subjectPublicKeyInfo), operatorName: "operator", state: .usable)
    else { return require(false, "the fixture reads") }
    require(
        precertificate.toBeSigned.elementsEqual(leaf.der[leaf.layout.toBeSigned]), "nothing is left out but timestamps")
    var octets = 0
    for case .timestamp(let timestamp) in readings {
        octets += 47 + timestamp.extensions.count + timestamp.signature.count
        require(timestamp.logIdentifier.count == 32, "an identifier is a SHA-256")
        require(!log.signed(timestamp, for: precertificate), "no key verifies what nobody signed")
    }
    require(octets <= input.count, "a timestamp is what it was read from")
}
