import Foundation

@testable import Holdfast
@testable import HoldfastCompatibility

/// The first line is a host, the second a pattern, the rest a list of public suffixes.
func examineHost(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    let lines = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
    let first = lines.first ?? ""
    let host = try? DialedHost(first)
    if let host {
        require((try? DialedHost(host.name)) == host, "a host has one canonical form")
        require(host.name.utf8.count <= 253, "a host fits the DNS")
        require(host.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a host is printable ASCII")
        require(HostPattern(host).matches(host), "a host matches itself")
    }
    if let url = URL(string: first), let fromURL = try? DialedHost(url: url) {
        require((try? DialedHost(fromURL.name)) == fromURL.withoutPort, "the host of a URL is a host")
    }
    _ = try? DialedHost(publishedHostName: first)
    guard lines.count > 1 else { return }
    let suffixes = lines.count > 2 ? try? PublicSuffixList(lines[2]) : nil
    guard let pattern = try? HostPattern(lines[1], allowingTopLevel: true, publicSuffixes: suffixes) else { return }
    require(
        (try? HostPattern(pattern.description, allowingTopLevel: true)) == pattern, "a pattern reads back as it prints")
    var index = HostPatternIndex<Int>()
    index[pattern] = 1
    if let host {
        require((index.value(for: host) != nil) == pattern.matches(host), "the index finds what matches")
        require(
            pattern.scope == .exact || host.addressOctets == nil || !pattern.matches(host), "no name covers an address")
    }
    index[pattern] = nil
    require(index.isEmpty, "what is removed is gone")
}

/// One pin per line; a key in Base64 as the published systems write it.
func examinePin(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    var pins: [Pin] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).prefix(64) {
        if let octets = CanonicalBase64.decode(line.utf8) {
            require(CanonicalBase64.encode(octets) == String(line), "Base64 has one spelling")
        }
        if let key = try? DocumentPublicKey(base64: String(line)) {
            require((try? DocumentPublicKey(base64: key.base64)) == key, "a key reads back as it prints")
        }
        guard let pin = try? Pin(String(line)) else { continue }
        require((try? Pin(pin.description)) == pin, "a pin reads back as it prints")
        require(pin.digest.count == Pin.digestLength, "a pin is a SHA-256")
        pins.append(pin)
    }
    guard let set = try? PinSet(pins: Array(pins.prefix(2)), backups: Array(pins.dropFirst(2))) else { return }
    require(Set(set.pins).count == pins.count, "a set holds each pin once")
    require(pins.allSatisfy(set.contains), "a set holds what it was made from")
}

func examinePropertyList(_ input: [UInt8]) {
    guard let domains = try? PinnedCertificateFile.certificates(in: Data(input)) else { return }
    for (domain, certificates) in domains {
        require(certificates.allSatisfy { $0.count <= input.count }, "nothing is larger than the file that holds it")
        _ = try? DialedHost(publishedHostName: domain)
        _ = try? CertificateSource.data(certificates).read()
    }
}
