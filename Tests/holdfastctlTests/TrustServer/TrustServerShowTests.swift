import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl trust-server show", .timeLimit(.minutes(5)))
struct TrustServerShowTests {
    @Test("A certificate that is not there is said, with what makes it")
    func missing() async throws {
        try await TrustServerSite.with { site in
            let nobody = try await CommandRun.holdfastctl(
                ["trust-server", "show", "--customer", "other"], in: site.folder)
            #expect(nobody.status == 3 && nobody.errors.contains("publish --first-run makes it"), "\(nobody.errors)")
        }
    }

    @Test("The certificate of the key that signs is printed again")
    func show() async throws {
        try await TrustServerSite.with { site in
            let run = try await CommandRun.holdfastctl(["trust-server", "show", "--customer", "acme"], in: site.folder)
            #expect(
                run.status == 0 && Data(base64Encoded: run.output.trimmingCharacters(in: .newlines)) == site.certificate
            )
            // The private key is not needed.
            try FileManager.default.removeItem(at: site.file("data/acme.key"))
            try FileManager.default.removeItem(at: site.file("output/acme.crt"))
            let pem = try await CommandRun.holdfastctl(
                ["trust-server", "show", "--customer", "acme", "--json"], in: site.folder)
            #expect(pem.status == 0 && pem.output.contains(site.certificate.base64EncodedString()), "\(pem.errors)")
            let show = ["trust-server", "show", "--customer", "acme", "-o", "acme.base64"]
            let written = try await CommandRun.holdfastctl(show, in: site.folder)
            #expect(written.status == 0 && written.output.isEmpty, "\(written.output)\(written.errors)")
            #expect(try String(contentsOf: site.file("acme.base64"), encoding: .utf8) == run.output)
            let both = try await CommandRun.holdfastctl(show + ["--json"], in: site.folder)
            #expect(both.status == 0 && both.output == pem.output)
        }
    }
}
