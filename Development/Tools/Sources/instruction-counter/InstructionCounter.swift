import Foundation
import Holdfast

/// Repeats only one operation a given number of times, so that scripts/measure instructions can count its cost. For
/// Holdfast's own developers.
@main
struct InstructionCounter {
    /// The counted chain is valid at this time.
    private static let time = Date(timeIntervalSince1970: CountedChain.time)

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let work = try work(arguments[1]), let times = Int(arguments[2]), times >= 0 else {
            FileHandle.standardError.write(
                Data("usage: instruction-counter (pin-check | warm-validation | cold-validation) TIMES\n".utf8))
            exit(2)
        }
        for _ in 0..<times {
            guard try work() else {
                FileHandle.standardError.write(Data("instruction-counter: \(arguments[1]) came out wrong\n".utf8))
                exit(1)
            }
        }
    }

    private static func work(_ name: String) throws -> (() throws -> Bool)? {
        let path = try CountedChain.path()
        switch name {
        case "pin-check":
            guard let root = path.last else { return nil }
            let pins = try PinSet(pins: [Pin.publicKey(of: root)])
            return { try path.filter { pins.contains(try Pin.publicKey(of: $0)) }.count == 1 }
        case "warm-validation":
            return try validation(of: path, cache: VerifiedPathCache())
        case "cold-validation":
            return try validation(of: path, cache: nil)
        default:
            return nil
        }
    }

    private static func validation(of path: [[UInt8]], cache: VerifiedPathCache?) throws -> () throws -> Bool {
        let validator = PathValidator(anchors: try TrustAnchors(der: [path[2]]), cache: cache)
        let presented = Array(path.prefix(2))
        let host = try DialedHost(CountedChain.host)
        return {
            let outcome = validator.validate(
                PresentedChain(presented), for: .server(identity: host), at: time, accepting: { _ in true })
            return outcome.path != nil
        }
    }
}
