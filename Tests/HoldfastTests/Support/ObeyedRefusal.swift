import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// A refusal of the library, and what a developer does who obeys its remedy literally.
struct ObeyedRefusal: Sendable, CustomTestStringConvertible {
    /// The type of the error and its code, such as `PinError.empty`.
    let code: String
    /// The part of the remedy that says what is done.
    let says: String
    /// The call that is refused.
    let refused: @Sendable () async throws -> Void
    /// The call that obeys the remedy; it gets the remedy, which may have the text to write.
    let obeyed: @Sendable (_ remedy: String) async throws -> Void

    init(
        _ code: String, says: String, refused: @escaping @Sendable () async throws -> Void,
        obeyed: @escaping @Sendable (_ remedy: String) async throws -> Void
    ) {
        (self.code, self.says, self.refused, self.obeyed) = (code, says, refused, obeyed)
    }

    /// A pin file that is refused, and the same after the edit of which the remedy speaks.
    init(file: Data, _ code: String, says: String, edited: Data) {
        self.init("PinFileError.\(code)", says: says) {
            _ = try PinFile(json: file)
        } obeyed: { _ in
            _ = try PinFile(json: edited)
        }
    }

    /// A decision that refuses, and one after the remedy, each made by a new authority.
    init(
        decision code: String, says: String,
        refused: @escaping @Sendable (PolicyFixture) async throws -> TrustDecision,
        obeyed: @escaping @Sendable (PolicyFixture) async throws -> TrustDecision
    ) {
        self.init("TrustFailure.\(code)", says: says) {
            if let failure = try await refused(try PolicyFixture()).failure { throw failure }
        } obeyed: { _ in
            if let failure = try await obeyed(try PolicyFixture()).failure { throw failure }
        }
    }

    var testDescription: String { "\(code): \(says)" }

    func check() async throws {
        let error = try await #require(throws: (any Error).self) { try await refused() } as? any HoldfastError
        let found = try #require(error, "\(code) is no error of Holdfast")
        let name = "\(type(of: found)).\(Self.rawCode(of: found))"
        #expect(name == code && found.remedy.contains(says), "\(name): \(found.remedy)")
        try await obeyed(found.remedy)
    }

    private static func rawCode(of error: some HoldfastError) -> String { "\(error.code)" }
}
