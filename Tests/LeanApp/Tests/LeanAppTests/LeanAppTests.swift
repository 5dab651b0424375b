import Holdfast
import HoldfastTesting
import Testing

@Suite("An app without services")
struct LeanAppTests {
    @Test("Test support makes certificates without SwiftNIO")
    func certificates() throws {
        let authority = try TestAuthority.root(name: "Root")
        let leaf = try authority.leaf(names: ["api.example.com"])
        #expect(try X509Certificate(der: leaf.der).publicKeyPin != X509Certificate(der: authority.root).publicKeyPin)
    }
}
