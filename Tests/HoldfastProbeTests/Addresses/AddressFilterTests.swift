import HoldfastProbe
import Testing

@Suite("Addresses that may be asked")
struct AddressFilterTests {
    /// The first and the last address of each block that is refused, and the nearest addresses outside of it that are
    /// not refused for another reason.
    static let blocks: [(purpose: String, inside: [String], outside: [String])] = [
        ("unspecified", ["0.0.0.0", "::"], []),
        ("this network", ["0.0.0.1", "0.255.255.255"], ["1.0.0.0"]),
        ("private", ["10.0.0.0", "10.255.255.255"], ["9.255.255.255", "11.0.0.0"]),
        ("shared by providers", ["100.64.0.0", "100.127.255.255"], ["100.63.255.255", "100.128.0.0"]),
        ("loopback", ["127.0.0.0", "127.0.0.1", "127.255.255.255"], ["126.255.255.255", "128.0.0.0"]),
        ("metadata", ["169.254.169.254"], []),
        ("metadata", ["168.63.129.16"], ["168.63.129.15", "168.63.129.17"]),
        ("link-local", ["169.254.0.0", "169.254.169.253", "169.254.255.255"], ["169.253.255.255", "169.255.0.0"]),
        ("private", ["172.16.0.0", "172.31.255.255"], ["172.15.255.255", "172.32.0.0"]),
        ("protocol", ["192.0.0.0", "192.0.0.255"], ["191.255.255.255", "192.0.1.0"]),
        ("documentation", ["192.0.2.0", "192.0.2.255"], ["192.0.1.255", "192.0.3.0"]),
        ("6to4", ["192.88.99.0", "192.88.99.255"], ["192.88.98.255", "192.88.100.0"]),
        ("private", ["192.168.0.0", "192.168.255.255"], ["192.167.255.255", "192.169.0.0"]),
        ("benchmarks", ["198.18.0.0", "198.19.255.255"], ["198.17.255.255", "198.20.0.0"]),
        ("documentation", ["198.51.100.0", "198.51.100.255"], ["198.51.99.255", "198.51.101.0"]),
        ("documentation", ["203.0.113.0", "203.0.113.255"], ["203.0.112.255", "203.0.114.0"]),
        ("multicast", ["224.0.0.0", "239.255.255.255"], ["223.255.255.255"]),
        ("reserved", ["240.0.0.0", "255.255.255.254"], []),
        ("broadcast", ["255.255.255.255"], []),
        ("loopback", ["::1"], []),
        ("IPv4-compatible", ["::2", "::7f00:1", "::ffff:ffff"], []),
        (
            "IPv4-mapped",
            ["::ffff:0.0.0.0", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:255.255.255.255", "::ffff:7f00:1"], []
        ),
        ("NAT64", ["64:ff9b::", "64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b::ffff:ffff"], []),
        ("NAT64", ["64:ff9b:1::", "64:ff9b:1:7f00:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"], []),
        ("discard", ["100::", "100::ffff:ffff:ffff:ffff"], []),
        ("Teredo", ["2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"], []),
        ("benchmarks", ["2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff"], []),
        ("protocol", ["2001:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"], ["2001:200::"]),
        (
            "documentation", ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db9::"]
        ),
        (
            "6to4", ["2002::", "2002:7f00:1::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2003::"]
        ),
        (
            "documentation", ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"],
            ["3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:1000::"]
        ),
        ("metadata", ["fd00:ec2::254"], []),
        (
            "unique local",
            ["fc00::", "fd00::1", "fd00:ec2::253", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], []
        ),
        ("link-local", ["fe80::", "fe80::1", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], []),
        ("site-local", ["fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], []),
        ("multicast", ["ff00::", "ff02::1", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"], []),
        (
            "not global unicast",
            ["64:ff9a::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "4000::", "5f00::1", "fbff::1", "fe00::1"],
            ["2000::", "3ff0::1", "2606:4700::1111"]
        ),
    ]

    @Test("Every special block is refused from its first to its last address, and nothing beside it", arguments: blocks)
    func special(purpose: String, inside: [String], outside: [String]) throws {
        let filter = AddressFilter()
        for text in inside {
            let refusal = try #require(filter.refusal(of: IPAddress(text)), "\(text)")
            #expect(refusal.purpose.hasPrefix(purpose), "\(text): \(refusal)")
        }
        for text in outside { #expect(try filter.refusal(of: IPAddress(text)) == nil, "\(text)") }
    }

    @Test("Addresses of the public Internet may be asked")
    func open() throws {
        for text in ["1.1.1.1", "8.8.8.8", "93.184.216.34", "2001:4860:4860::8888", "2a00:1450::1", "2620:fe::fe"] {
            #expect(try AddressFilter().refusal(of: IPAddress(text)) == nil, "\(text)")
        }
    }

    @Test("A block that is allowed opens itself, and neither what is beside it nor what embeds it")
    func allowed() throws {
        let filter = try AddressFilter(allowing: [AddressBlock("10.1.0.0/16"), AddressBlock("fd12:3456::/32")])
        for text in ["10.1.0.0", "10.1.255.255", "fd12:3456::1", "8.8.8.8"] {
            #expect(try filter.refusal(of: IPAddress(text)) == nil, "\(text)")
        }
        for text in [
            "10.0.255.255", "10.2.0.0", "127.0.0.1", "fd12:3457::1", "::ffff:10.1.0.1", "::10.1.0.1",
            "64:ff9b::10.1.0.1", "2002:a01:1::",
        ] {
            #expect(try filter.refusal(of: IPAddress(text)) != nil, "\(text)")
        }
        #expect(try AddressFilter(allowing: [AddressBlock("0.0.0.0/0")]).refusal(of: IPAddress("127.0.0.1")) == nil)
        #expect(try AddressFilter(allowing: [AddressBlock("0.0.0.0/0")]).refusal(of: IPAddress("::1")) != nil)
    }

    @Test("A refusal names the block and what it is for")
    func words() throws {
        let refusal = try AddressFilter().refusal(of: IPAddress("127.0.0.1"))
        #expect(refusal?.description == "loopback (RFC 1122) (127.0.0.0/8)")
        #expect(try refusal?.block == AddressBlock("127.0.0.0/8"))
    }

    @Test(
        "A block is read as it is written",
        arguments: ["10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32", "::/0", "0.0.0.0/0"])
    func reading(text: String) throws { #expect(try AddressBlock(text).description == text) }

    @Test("An address alone is a block of one")
    func single() throws {
        let block = try AddressBlock("192.0.2.7")
        #expect(block.description == "192.0.2.7/32")
        #expect(try block.contains(IPAddress("192.0.2.7")) && !block.contains(IPAddress("192.0.2.6")))
    }

    @Test(
        "What is no block is refused, also one with bits after its prefix",
        arguments: [
            "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8/8", "10.0.0.1/8", "10/8",
            "2001:db8::1/32", "2001:db8::/129", "example.com/8", "10.0.0.0/8 ", "10.0.0.0/٨", "0x0a.0.0.0/8",
        ])
    func unreadable(text: String) {
        #expect(throws: ProbeConfigurationError.self) { try AddressBlock(text) }
    }
}
