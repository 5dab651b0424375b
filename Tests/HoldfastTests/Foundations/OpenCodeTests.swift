import Testing

@testable import Holdfast

extension TrustFailure.Code {
    fileprivate static var notAttested: Self { Self(rawValue: "notAttested") }
}

@Suite("Open codes")
struct OpenCodeTests {
    @Test("A code is named like its member, and equal to the one that was written down")
    func names() {
        #expect(StoreError.Code.timedOut.rawValue == "timedOut" && "\(TrustFailure.Code.pinMismatch)" == "pinMismatch")
        #expect(StoreError.Code(rawValue: "timedOut") == .timedOut && StoreError.Code.timedOut != .reset)
        #expect(Set([StoreError.Code.timedOut, StoreError.Code(rawValue: "timedOut")]).count == 1)
    }

    @Test("A failure with a code of another's own is told apart and described like any other")
    func ownCode() {
        let failure = TrustFailure(.notAttested, expected: "an attested device", found: "another", remedy: "Attest it.")
        #expect(failure.code == .notAttested && failure != TrustFailure(.noTrust, expected: "", found: ""))
        #expect(failure.description.contains("notAttested: expected an attested device, found another"))
    }

    @Test("A code brings its usual remedy, which an error may replace")
    func remedies() {
        #expect(TrustFailure(.expired, expected: "", found: "").remedy.hasPrefix("Renew the certificate"))
        #expect(TrustFailure(.expired, expected: "", found: "", remedy: "Wait.").remedy == "Wait.")
    }
}
