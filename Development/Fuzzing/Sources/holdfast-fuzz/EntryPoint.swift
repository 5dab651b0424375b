import Foundation

/// The function that libFuzzer calls for each input. `HOLDFAST_FUZZ_TARGET` names the reader that gets it.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    FuzzTarget.selected.examine(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

/// A reader of untrusted input, with the conditions that must hold for any input.
enum FuzzTarget: String, CaseIterable {
    case certificate, publicKeyInfo, chain, host, pin, propertyList, document, message, certificateFile, revocationList,
        pinFile, metadata, bundle, logList, timestamps

    static let selected: FuzzTarget = {
        let name = ProcessInfo.processInfo.environment["HOLDFAST_FUZZ_TARGET"] ?? ""
        guard let target = FuzzTarget(rawValue: name) else {
            let names = allCases.map(\.rawValue).joined(separator: " ")
            FileHandle.standardError.write(Data("HOLDFAST_FUZZ_TARGET is one of: \(names)\n".utf8))
            exit(2)
        }
        return target
    }()

    func examine(_ input: [UInt8]) {
        switch self {
        case .certificate: examineCertificate(input)
        case .publicKeyInfo: examinePublicKeyInfo(input)
        case .chain: ChainScene.shared.examine(input)
        case .host: examineHost(input)
        case .pin: examinePin(input)
        case .propertyList: examinePropertyList(input)
        case .document: examineDocument(input)
        case .message: examineMessage(input)
        case .certificateFile: examineCertificateFile(input)
        case .revocationList: examineRevocationList(input)
        case .pinFile: examinePinFile(input)
        case .metadata: examineMetadata(input)
        case .bundle: examineBundle(input)
        case .logList: examineLogList(input)
        case .timestamps: examineTimestamps(input)
        }
    }
}

/// Ends the run with a finding if a condition does not hold.
func require(_ holds: Bool, _ what: @autoclosure () -> String) {
    guard !holds else { return }
    FileHandle.standardError.write(Data("DOES NOT HOLD: \(what())\n".utf8))
    abort()
}
