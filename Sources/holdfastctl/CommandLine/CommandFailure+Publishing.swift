import Holdfast
import HoldfastPublishing

extension CommandFailure {
    /// The library's error as the command's message: its subject, the expected and the found value, and the remedy.
    init(_ error: PublishingError) {
        let code: Code =
            switch error.code {
            case .unreadable: .unreadableFile
            case .unwritable, .changedMeanwhile: .unwritableFile
            case .invalidInput: .wrongUsage
            case .notExpressible: .notTrusted
            case .notSigned, .shortLife: .notSigned
            case .notTheHosts: .notTrusted
            case .notSeen: .unreachable
            default: .invalidList
            }
        let subject = error.subject.map { "\($0): " } ?? ""
        let remedy = error.remedy.isEmpty ? "" : ". \(error.remedy)"
        self.init(code, "\(subject)expected \(error.expected), found \(error.found)\(remedy)")
    }

    /// Calls the library, and throws its errors as the command's.
    static func rethrowing<Value>(_ body: () throws(PublishingError) -> Value) throws(CommandFailure) -> Value {
        do throws(PublishingError) {
            return try body()
        } catch {
            throw CommandFailure(error)
        }
    }
}
