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

    #if os(Linux)
    @Test("Calls without a file write to the usual file and read it", .timeLimit(.minutes(10)))
    func usualFile() async throws {
        // A variable of the environment names its folder: a process of its own may change that.
        await #expect(processExitsWith: .success) {
            let server = try PublishedServer()
            try #require(unsafe setenv("XDG_DATA_HOME", server.folder.path, 1) == 0)
            let usual = ISPCertificatePinning.defaultFile
            try #require(usual.path == server.folder.path + "/holdfast/SSLPins.plist")
            func verify() -> Bool {
                ISPCertificatePinning.verifyPinnedCertificate(
                    forTrust: server.trust(server.leaf.chain, host: server.host), andDomain: server.host)
            }
            let pins = [server.host: [Data(server.leaf.der)]]
            #expect(!verify())
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: pins))
            #expect(FileManager.default.fileExists(atPath: usual.path) && verify())
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: [:], file: usual) && !verify())
            #expect(ISPCertificatePinning.setupSSLPins(usingDictionnary: pins, file: usual) && verify())
        }
    }
    #endif

    @Test("The published calls take two arguments")
    func shapes() {
        let setup: ([String: [Data]]?) -> Bool = { ISPCertificatePinning.setupSSLPins(usingDictionnary: $0) }
        #expect(!setup(nil))
        #expect(!ISPCertificatePinning.verifyPinnedCertificate(forTrust: nil, andDomain: "www.example.com"))
        #expect(!ISPCertificatePinning.verifyPinnedCertificate(forTrust: nil, andDomain: nil))
    }
}
