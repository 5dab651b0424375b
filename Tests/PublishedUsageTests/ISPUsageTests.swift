import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

/// ISPCertificatePinning as Swift imports it, in the manner of its published delegate.
@Suite("Published usage, ISPCertificatePinning", .quietLog)
struct ISPUsageTests {
    @Test("Pins are set up and a challenge is answered by them")
    func challenge() throws {
        let server = try PublishedServer()
        let file = server.folder.appending(path: "SSLPins.plist")
        let domainsToPin = [server.host: [Data(server.leaf.der)]]

        if ISPCertificatePinning.setupSSLPins(usingDictionnary: domainsToPin, file: file) != true {
            Issue.record("Failed to pin the certificates")
        }

        var answers: [AuthChallengeDisposition] = []
        for space in server.protectionSpaces {
            let serverTrust = space.serverTrust
            let domain = space.host
            if ISPCertificatePinning.verifyPinnedCertificate(forTrust: serverTrust, andDomain: domain, file: file) {
                answers.append(.useCredential)
            } else {
                answers.append(.cancelAuthenticationChallenge)
            }
        }
        #expect(answers == server.expectedAnswers)
    }

    @Test("The published calls take two arguments")
    func shapes() {
        let setup: ([String: [Data]]?) -> Bool = { ISPCertificatePinning.setupSSLPins(usingDictionnary: $0) }
        #expect(!setup(nil))
        #expect(!ISPCertificatePinning.verifyPinnedCertificate(forTrust: nil, andDomain: "www.example.com"))
        #expect(!ISPCertificatePinning.verifyPinnedCertificate(forTrust: nil, andDomain: nil))
    }
}
