import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastPublishing
@testable import holdfastctl

/// Network security configurations as Android's documentation has them, judged by another program.
@Suite("Android's configuration under a schema", .needs(.xmllint), .timeLimit(.minutes(15)))
struct AndroidSchemaTests {
    /// The elements about pins that Android's parser takes; it refuses a second base-config and debug-overrides, a
    /// domain that is there twice in one element, and pins of other digests than SHA-256.
    private static let schema = """
        <?xml version="1.0" encoding="utf-8"?>
        <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" elementFormDefault="qualified">
          <xs:element name="network-security-config">
            <xs:complexType>
              <xs:sequence>
                <xs:element name="base-config" type="config" minOccurs="0"/>
                <xs:element name="domain-config" type="domainConfig" minOccurs="0" maxOccurs="unbounded"/>
                <xs:element name="debug-overrides" type="config" minOccurs="0"/>
              </xs:sequence>
            </xs:complexType>
          </xs:element>
          <xs:complexType name="config">
            <xs:sequence>
              <xs:element name="trust-anchors" type="anchors" minOccurs="0"/>
            </xs:sequence>
            <xs:attribute name="cleartextTrafficPermitted" type="xs:boolean"/>
          </xs:complexType>
          <xs:complexType name="domainConfig">
            <xs:sequence>
              <xs:element name="domain" maxOccurs="unbounded">
                <xs:complexType>
                  <xs:simpleContent>
                    <xs:extension base="hostName">
                      <xs:attribute name="includeSubdomains" type="xs:boolean"/>
                    </xs:extension>
                  </xs:simpleContent>
                </xs:complexType>
              </xs:element>
              <xs:element name="pin-set" minOccurs="0">
                <xs:complexType>
                  <xs:sequence>
                    <xs:element name="pin" maxOccurs="unbounded">
                      <xs:complexType>
                        <xs:simpleContent>
                          <xs:extension base="digest">
                            <xs:attribute name="digest" use="required" fixed="SHA-256"/>
                          </xs:extension>
                        </xs:simpleContent>
                      </xs:complexType>
                    </xs:element>
                  </xs:sequence>
                  <xs:attribute name="expiration" type="day"/>
                </xs:complexType>
              </xs:element>
              <xs:element name="trust-anchors" type="anchors" minOccurs="0"/>
              <xs:element name="domain-config" type="domainConfig" minOccurs="0" maxOccurs="unbounded"/>
            </xs:sequence>
            <xs:attribute name="cleartextTrafficPermitted" type="xs:boolean"/>
          </xs:complexType>
          <xs:complexType name="anchors">
            <xs:sequence>
              <xs:element name="certificates" maxOccurs="unbounded">
                <xs:complexType>
                  <xs:attribute name="src" use="required">
                    <xs:simpleType>
                      <xs:restriction base="xs:string">
                        <xs:pattern value="system|user|@raw/[a-z][a-z0-9_]*"/>
                      </xs:restriction>
                    </xs:simpleType>
                  </xs:attribute>
                  <xs:attribute name="overridePins" type="xs:boolean"/>
                </xs:complexType>
              </xs:element>
            </xs:sequence>
          </xs:complexType>
          <xs:simpleType name="hostName">
            <xs:restriction base="xs:string">
              <xs:pattern value="[a-z0-9]([a-z0-9\\-]*[a-z0-9])?(\\.[a-z0-9]([a-z0-9\\-]*[a-z0-9])?)*"/>
            </xs:restriction>
          </xs:simpleType>
          <xs:simpleType name="digest">
            <xs:restriction base="xs:string"><xs:pattern value="[A-Za-z0-9+/]{43}="/></xs:restriction>
          </xs:simpleType>
          <xs:simpleType name="day">
            <xs:restriction base="xs:date"><xs:pattern value="[0-9]{4}-[0-9]{2}-[0-9]{2}"/></xs:restriction>
          </xs:simpleType>
        </xs:schema>
        """

    private static func judge(_ text: String, in folder: URL) async throws -> CommandRun {
        try Data(schema.utf8).write(to: folder.appending(path: "schema.xsd"))
        try Data(text.utf8).write(to: folder.appending(path: "config.xml"))
        let xmllint = try #require(ForeignPeers.xmllint, "xmllint is required and not there")
        return try await CommandRun.run(
            xmllint, ["--noout", "--nonet", "--schema", "schema.xsd", "config.xml"], in: folder)
    }

    private static func files() throws -> [PinFile] {
        let key = PinExportTests.key
        return [
            try PinExportTests.plain(),
            try PinFile(
                notAfter: PinExportTests.endOfDay,
                hosts: [
                    PinFile.Host(
                        HostPattern("**.example.com"), afterExpiry: .standardValidation,
                        pins: [key(1, .leaf, .active, nil), key(2, .issuer, .backup, nil)]),
                    PinFile.Host(HostPattern("b\u{FC}cher.example"), pins: [key(3, .leaf, .active, nil)]),
                    PinFile.Host(HostPattern("192.0.2.1"), pins: [key(4, .leaf, .active, nil)]),
                ],
                debugAnchors: [
                    X509Certificate(der: TestAuthority.root().root), X509Certificate(der: TestAuthority.root().root),
                ]),
        ]
    }

    @Test("Whole files pass, with ends, debug overrides, and what strangers wrote into comments")
    func whole() async throws {
        try await withTemporaryFolder { folder in
            for file in try Self.files() {
                var annotations = PinAnnotations()
                for host in file.hosts {
                    annotations.warnings[host.pattern] = "NOT VALIDATED --> <x>"
                    for pin in host.pins { annotations.titles[pin.pin] = "CN=a--b]]><!-- \u{301}" }
                }
                for annotations in [PinAnnotations(), annotations] {
                    let text = try PinExport(file, as: .android, annotations: annotations).text()
                    let run = try await Self.judge(text, in: folder)
                    #expect(run.status == 0, "\(run.errors) \(text)")
                }
            }
        }
    }

    @Test("The schema refuses what Android does not take")
    func schemaRefuses() async throws {
        try await withTemporaryFolder { folder in
            let text = try PinExport(try Self.files()[1], as: .android).text()
            let digest = try PinExportTests.pin(1).base64
            for (part, wrong) in [
                (digest, String(digest.dropLast(2))), ("SHA-256", "SHA-1"), ("2030-01-31", "31.1.2030"),
                ("example.com</domain>", "*.example.com</domain>"), ("@raw/", "/raw/"), ("<pin-set ", "<pinset "),
            ] {
                let run = try await Self.judge(text.replacing(part, with: wrong), in: folder)
                #expect(text.contains(part) && run.status != 0, "\(wrong)")
            }
        }
    }

    @Test("What pin prints for a host passes, and so does what was imported from nested domains and exported again")
    func commands() async throws {
        let site = try TestSite()
        let (pinned, _) = try await site.run("pin", ["--format", "android", "--host", "**.example.com"])
        try await withTemporaryFolder { folder in
            let judged = try await Self.judge(pinned.output, in: folder)
            #expect(judged.status == 0, "\(judged.errors)")
            let nested = """
                <network-security-config><domain-config><domain includeSubdomains="true">example.com</domain>
                <pin-set><pin digest="SHA-256">\(try PinExportTests.pin(1).base64)</pin></pin-set>
                <domain-config><domain>api.example.com</domain>
                <pin-set><pin digest="SHA-256">\(try PinExportTests.pin(2).base64)</pin></pin-set>
                </domain-config></domain-config></network-security-config>
                """
            #expect(try await Self.judge(nested, in: folder).status == 0)
            let imported = try await CommandRun.inProcess(
                ["import", "config.xml", "--from", "android", "--role", "leaf"], in: folder)
            try Data(imported.output.utf8).write(to: folder.appending(path: "bank.pins.json"))
            let exported = try await CommandRun.inProcess(
                ["export", "bank.pins.json", "--format", "android", "--force", "offline"], in: folder)
            let again = try await Self.judge(exported.output, in: folder)
            #expect(exported.status == 0 && again.status == 0, "\(imported.errors)\(exported.errors)\(again.errors)")
        }
    }
}
