import HoldfastPublishing

extension CommandFailure {
    /// Makes a command's failure from a repository's error.
    init(_ error: TUFRepositoryError) {
        let code: Code =
            switch error.code {
            case .storage: .unwritableFile
            case .wrongPlace: .unreadableFile
            case .signerFailed: .signerFailed
            case .damaged, .invalidPins: .invalidList
            default: .notSigned
            }
        self.init(code, "\(error)")
    }

    static func translating<Value>(
        _ body: () throws(TUFRepositoryError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(TUFRepositoryError) {
            return try body()
        } catch {
            throw CommandFailure(error)
        }
    }
}
