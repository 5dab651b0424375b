import HoldfastAsyncHTTPClient
import Testing

@Suite("Limits of a client")
struct LimitsTests {
    @Test("The usual limits of a client, and its rules for redirects, are the documented ones")
    func defaults() {
        let limits = PinnedHTTPClient.Limits()
        #expect(limits.origins == 256 && limits.unansweredConnections == 12)
        #expect(limits.evidence == 1_024 && limits.evidenceLifetime == .seconds(600) && limits.evidenceTries == 4)
        #expect(limits.closing == .seconds(10))
        let rules = RedirectRules()
        #expect(rules.limit == 5 && !rules.allowsCycles && !rules.resendsBodies)
        #expect(!rules.keepsMethodOn301 && !rules.keepsMethodOn302)
    }
}
