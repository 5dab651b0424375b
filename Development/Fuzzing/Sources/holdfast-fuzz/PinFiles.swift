import Foundation

@testable import Holdfast

/// A pin file: it is within its limits, can be used, and is written as it was read.
func examinePinFile(_ input: [UInt8]) {
    let file: PinFile
    do throws(PinFileError) {
        file = try PinFile(json: Data(input))
    } catch {
        require(!error.remedy.isEmpty, "an error has a remedy")
        require(
            error.description.replacing("…", with: "").isPrintableASCII,
            "an error prints in one line, and a file cannot forge another")
        return
    }
    require((try? PinFile(json: file.json)) == file, "what is written reads back equal")
    require(file.hosts.count <= PinFileLimits.hosts, "hosts are bounded")
    for host in file.hosts {
        require(host.pins.count <= PinFileLimits.pins, "pins are bounded")
        require(
            host.isRetired == host.pins.isEmpty && (host.isRetired || host.pins.contains { $0.state != .candidate }),
            "a host has pins that can match, or is retired")
    }
    try? file.checkRequirements(for: .signed)
    let policies = file.policies()
    require(policies.count == file.hosts.count, "each host has a policy")
    let scene = ChainScene.shared
    guard let host = file.hosts.first?.pattern.base else { return }
    let validator = PathValidator(anchors: scene.anchors)
    let trust = ServerTrust(
        chain: PresentedChain(scene.chain), purpose: .server(identity: host), validator: validator)
    guard policies[0].evaluate(trust, at: scene.time).isTrusted else { return }
    let standard = validator.validate(trust.chain, for: .server(identity: host), at: scene.time) { _ in true }
    require(standard.path != nil, "no file makes a chain trusted that does not validate for the host")
    require(!file.hosts[0].isRetired, "a retired host is never trusted")
}
