import Foundation
import Holdfast
import HoldfastProbe
import Testing

@Suite("Proxies for connections to hosts")
struct ProxySettingsTests {
    @Test(
        "HTTPS_PROXY of the environment is used, but for the hosts of NO_PROXY",
        arguments: [
            ([:], true), (["NO_PROXY": "example.com"], false), (["no_proxy": "x, .example.com:443"], false),
            (["NO_PROXY": "*"], false), (["NO_PROXY": "ple.com,api.example.com:444,10.0.0.1"], true),
            (["NO_PROXY": "*.Example.COM"], false), (["NO_PROXY": "api.example.com."], false),
            (["NO_PROXY": ".EXAMPLE.com.:443"], false), (["NO_PROXY": "x.example\t.example.com"], false),
            (["NO_PROXY": "\nexample.com\n"], false), (["NO_PROXY": "xapi.example.com,i.example.com"], true),
        ] as [([String: String], Bool)])
    func environment(settings: [String: String], isUsed: Bool) throws {
        let proxy = try ProxySettings(environment: settings.merging(["https_proxy": "http://u:p@proxy.example"]) { $1 })
            .proxy(for: try DialedHost("api.example.com", port: 443))
        #expect((proxy?.host.description == "proxy.example:80") == isUsed && (proxy == nil) != isUsed)
        #expect(
            try ProxySettings(environment: settings).proxy(for: try DialedHost("api.example.com", port: 443)) == nil)
    }

    @Test("A proxy is read with its port and its credentials, and no error repeats them")
    func reading() throws {
        #expect(try ProxyServer("proxy.example:3128").host.description == "proxy.example:3128")
        #expect(try ProxyServer("http://proxy.example/").host.port == 80)
        #expect(try ProxyServer("[2001:db8::1]:3128").host.name == "2001:db8::1")
        for text in [
            "", "proxy.example", "https://user:s3cret@proxy.example:1", "socks5://user:s3cret@proxy.example:1",
            "user:s3cret@proxy.example:x", "http://user:s3\ncret@proxy.example", "user:s%0D%0A3cret@proxy.example:1",
        ] {
            let error = #expect(throws: ProbeConfigurationError.self) { try ProxyServer(text) }
            #expect(error?.code == .invalidProxy)
            #expect(error.map { "\($0)".contains("cret") } == false, "\(text)")
        }
    }

    @Test(
        "A block of addresses covers hosts that are dialed by an address in it, and nothing else",
        arguments: [
            ("127.0.0.0/8", "127.0.0.1", true), ("10.0.0.0/8,127.0.0.0/8", "127.9.9.9", true),
            ("10.0.0.0/8", "127.0.0.1", false), ("192.168.4.0/22", "192.168.7.255", true),
            ("192.168.4.0/22", "192.168.8.0", false), ("0.0.0.0/0", "203.0.113.7", true),
            ("203.0.113.7/32", "203.0.113.7", true), ("203.0.113.7/32", "203.0.113.6", false),
            ("fd00::/8", "fd12::1", true), ("fd00::/8", "2001:db8::1", false), ("[fd00::]/8", "fd12::1", true),
            ("[fd12::1]:443", "fd12::1", true), ("[fd12::1]:8443", "fd12::1", false), ("FD12:0::1", "fd12::1", true),
            ("0.0.0.0/0", "2001:db8::1", false),
            ("127.0.0.0/33", "127.0.0.1", false), ("127.0.0.0/-1", "127.0.0.1", false),
            ("127.0.0.0/", "127.0.0.1", false), ("/8", "127.0.0.1", false), ("0.0.0.0/0", "api.example.com", false),
        ])
    func blocks(exceptions: String, host: String, isDirect: Bool) throws {
        let settings = try ProxySettings(
            environment: ["HTTPS_PROXY": "http://proxy.example:3128", "NO_PROXY": exceptions])
        #expect((settings.proxy(for: try DialedHost(host, port: 443)) == nil) == isDirect)
    }
}
