import Foundation
import Synchronization
import Testing

@testable import ServerApprovals
@testable import ServerFoundation

/// Expects an error with a code, and returns it.
@discardableResult
func expectError<Value>(
    _ code: ServerError.Code, _ body: () throws -> Value, sourceLocation: SourceLocation = #_sourceLocation
) -> ServerError? {
    do {
        _ = try body()
        Issue.record("expected \(code), and nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as ServerError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("expected \(code), found \(error)", sourceLocation: sourceLocation)
    }
    return nil
}

/// Expects an error with a code, and returns it.
@discardableResult
func expectError<Value>(
    _ code: ServerError.Code, _ body: () async throws -> Value, sourceLocation: SourceLocation = #_sourceLocation
) async -> ServerError? {
    do {
        _ = try await body()
        Issue.record("expected \(code), and nothing was thrown", sourceLocation: sourceLocation)
    } catch let error as ServerError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        return error
    } catch {
        Issue.record("expected \(code), found \(error)", sourceLocation: sourceLocation)
    }
    return nil
}

/// How many damaged inputs a campaign tries: `HOLDFAST_MUTANTS`, or 10,000.
let mutants = Int(ProcessInfo.processInfo.environment["HOLDFAST_MUTANTS"] ?? "") ?? 10_000

/// How many of them a campaign tries that takes long for each: a part in the suite, and all if more than usual are wanted.
func mutants(inPartsOf divisor: Int) -> Int { mutants > 10_000 ? mutants : mutants / divisor }

private let noting = Mutex(())

/// Writes down how many damaged inputs a campaign has tried: a line in the file that `HOLDFAST_CAMPAIGNS` names, if it names
/// one.
func noteCampaign(of count: Int, fileID: String = #fileID, line: Int = #line) {
    guard let path = ProcessInfo.processInfo.environment["HOLDFAST_CAMPAIGNS"] else { return }
    let name = Test.current.map { $0.displayName ?? $0.name } ?? "-"
    noting.withLock { _ in
        guard let file = FileHandle(forWritingAtPath: path) else {
            Issue.record("HOLDFAST_CAMPAIGNS names no file that can be written: \(path)")
            return
        }
        defer { try? file.close() }
        _ = try? file.seekToEnd()
        try? file.write(contentsOf: Data("\(count)\t\(fileID):\(line)\t\(name)\n".utf8))
    }
}

/// Damages bytes and has them read.
/// - Parameters:
///   - seed: of what is damaged how.
///   - bytes: what is damaged, in turns.
///   - count: how often.
///   - fileID: for what is written down about it.
///   - line: as well.
///   - body: reads them, and throws a ``ServerError`` for what it refuses.
/// - Returns: how many were read.
func campaign(
    _ seed: UInt64, _ bytes: [[UInt8]], count: Int = mutants, fileID: String = #fileID, line: Int = #line,
    _ body: ([UInt8]) throws -> Void
) -> Int {
    defer { noteCampaign(of: count, fileID: fileID, line: line) }
    var generator = SeededGenerator(seed: seed)
    var read = 0
    for number in 0..<count {
        let mutant = mutated(bytes[number % bytes.count], &generator)
        do {
            try body(mutant)
            read += 1
        } catch is ServerError {
        } catch {
            Issue.record("another error than one of the server: \(error)")
        }
    }
    return read
}

/// As ``campaign(_:_:count:fileID:line:_:)``, for what has to be waited for.
func campaign(
    awaiting seed: UInt64, _ bytes: [[UInt8]], count: Int = mutants, fileID: String = #fileID, line: Int = #line,
    _ body: ([UInt8]) async throws -> Void
) async -> Int {
    defer { noteCampaign(of: count, fileID: fileID, line: line) }
    var generator = SeededGenerator(seed: seed)
    var read = 0
    for number in 0..<count {
        let mutant = mutated(bytes[number % bytes.count], &generator)
        do {
            try await body(mutant)
            read += 1
        } catch is ServerError {
        } catch {
            Issue.record("another error than one of the server: \(error)")
        }
    }
    return read
}

/// The bytes with something changed: an byte, a part left out, doubled or moved.
func mutated(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var bytes = bytes
    for _ in 0...Int.random(in: 0...2, using: &generator) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<5, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 2: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...9, using: &generator)))
        case 3: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 7)], at: place)
        default: bytes.insert(UInt8.random(in: 0x20...0x7E, using: &generator), at: place)
        }
    }
    return bytes
}
