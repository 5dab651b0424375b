import Foundation
import Holdfast
import SwiftASN1

/// Whether a certificate is valid for client authentication in TLS, and whether a public authority issued it.
///
/// Root programs require that public authorities stop issuing certificates for client authentication by 2027-03-15.
/// Mutual TLS with such a certificate stops working when the certificate expires.
package struct ClientUse: Sendable, Equatable {
    /// Whether extendedKeyUsage (RFC 5280 4.2.1.12) allows id-kp-clientAuth, or is absent.
    package let allowsClients: Bool
    /// Whether it is a CA certificate (RFC 5280 4.2.1.9), which authenticates no client, no matter what it allows below
    /// it.
    package let isAuthority: Bool
    /// Whether it states one of the CA/Browser Forum's policies for servers, or has timestamps of transparency logs
    /// (RFC 6962 3.3), as every certificate of a public authority for servers does.
    package let isPublic: Bool

    /// The day from which public authorities issue no certificates for client authentication.
    package static let lastDay = "2027-03-15"

    private static let keyUsage = "2.5.29.37"
    private static let policies = "2.5.29.32"
    private static let basicConstraints = "2.5.29.19"
    private static let timestamps = "1.3.6.1.4.1.11129.2.4.2"
    private static let clientPurposes = ["1.3.6.1.5.5.7.3.2", "2.5.29.37.0"]
    /// The arc of domain-validated, organization-validated, individual-validated and extended validation certificates.
    private static let publicPolicies = ["2.23.140.1.2.", "2.23.140.1.1"]

    /// Reads a certificate; nil if it cannot be read.
    /// - Parameter der: the certificate.
    package init?(der: [UInt8]) {
        guard let root = try? DER.parse(der), let body = Self.children(root).first else { return nil }
        var values: [String: [UInt8]] = [:]
        let tag = ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific)
        for wrapper in Self.children(body) where wrapper.identifier == tag {
            for item in Self.children(wrapper).first.map(Self.children) ?? [] {
                let parts = Self.children(item)
                guard let first = parts.first, let last = parts.last,
                    let name = try? ASN1ObjectIdentifier(derEncoded: first),
                    let value = try? ASN1OctetString(derEncoded: last)
                else { return nil }
                values["\(name)"] = Array(value.bytes)
            }
        }
        allowsClients =
            values[Self.keyUsage].map { value in
                Self.identifiers(in: value) { [$0] }.contains(where: Self.clientPurposes.contains)
            } ?? true
        let constraints = values[Self.basicConstraints].flatMap { try? DER.parse($0) }.map(Self.children) ?? []
        isAuthority = constraints.first.flatMap { try? Bool(derEncoded: $0) } ?? false
        let stated = values[Self.policies].map { value in Self.identifiers(in: value) { Self.children($0).prefix(1) } }
        isPublic =
            values[Self.timestamps] != nil
            || (stated ?? []).contains { policy in Self.publicPolicies.contains(where: policy.hasPrefix) }
    }

    /// A warning for a certificate that may authenticate clients; nil if nothing is wrong.
    package var warning: String? {
        guard allowsClients, isPublic, !isAuthority else { return nil }
        return
            "a public authority issued it, and such authorities issue no certificates for client authentication from "
            + "\(Self.lastDay) on: mutual TLS with it ends with the certificate. Use one of your own authority instead"
    }

    private static func children(_ node: ASN1Node) -> [ASN1Node] {
        guard case .constructed(let nodes) = node.content else { return [] }
        return Array(nodes)
    }

    private static func identifiers(
        in value: [UInt8], _ nodes: (ASN1Node) -> some Sequence<ASN1Node>
    ) -> [String] {
        guard let list = try? DER.parse(value) else { return [] }
        return children(list).flatMap { Array(nodes($0)) }
            .compactMap { (try? ASN1ObjectIdentifier(derEncoded: $0)).map { "\($0)" } }
    }
}
