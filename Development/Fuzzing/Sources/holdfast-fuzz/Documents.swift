import Foundation

@testable import Holdfast

private struct AnySignature: SignatureVerifying {
    func isValid(signature: [UInt8], for message: [UInt8]) -> Bool { true }
}

/// Documents in the form after their signature check, and stored data of a store.
func examineDocument(_ input: [UInt8]) {
    let data = Data(input)
    let limits = DocumentLimits(bytes: 65_536, entries: 100)
    if let list = try? FingerprintList(verifying: data, by: AnySignature(), limits: limits) {
        require(list.entries.count <= limits.entries, "entries are bounded")
        require(isJSON(input), "a list is JSON")
        require((try? FallbackDocument.entries(in: data, limits: limits)) == list.entries, "two readers, one list")
        examineTable(list.entries)
    }
    let response = try? ChallengeResponse(
        verifying: data, signature: "AAAA", challenge: "c", by: AnySignature(), limits: limits)
    if let response {
        require(response.entries.count <= limits.entries, "entries are bounded")
        require(isJSON(input), "an answer is JSON")
    }
    if let record = StoredRecord(data) { require(StoredRecord(record.data) == record, "a record is kept as it was") }
    // The digest stops a fuzzer; with it, the data before it are read.
    if let record = StoredRecord(data.withDigest) { require(StoredRecord(record.data) == record, "a record is kept") }
}

private func examineTable(_ entries: [FingerprintEntry]) {
    let table = PinTable(entries)
    require(table.count <= entries.count, "a table holds its entries")
    for entry in entries { _ = table.entries(named: entry.name) }
    _ = table.nameLost(in: PinTable([]), at: 0)
    _ = table.soonestEnd(at: 0)
}

func isJSON(_ input: [UInt8]) -> Bool {
    guard var reader = try? StrictJSONReader(input, maximumBytes: 65_536) else { return false }
    return (try? reader.skipValue()) != nil && (try? reader.finish()) != nil
}

extension Data {
    fileprivate var withDigest: Data { self + Data(Pin.certificate(Array(self)).digest) }
}
