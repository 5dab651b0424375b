public import Foundation
import Holdfast
public import HoldfastSigning

/// The state that a trust server keeps between two rounds, and the file in which it is stored.
public struct PublishingMemory: Sendable, Hashable {
    /// Every host on the list that was ever validated.
    public let hosts: [SeenHost]
    /// The backups of the last round.
    public let backups: TrustServerBackups

    /// Makes an empty memory, for the first round.
    public init() { self.init(hosts: [], backups: TrustServerBackups()) }

    /// Makes the memory after a round.
    public init(hosts: [SeenHost], backups: TrustServerBackups) {
        self.hosts = hosts
        self.backups = backups
    }

    private struct File: Codable {
        struct Host: Codable {
            let hostname: String
            let port: Int
            let validated: Int64
            let fp: [Pin]
            let pk: [Pin]
        }

        struct Pin: Codable {
            let pin: String
            let unseen: Int64
        }

        struct Backups: Codable {
            let fp: [String]
            let pk: [String]
        }

        static let version = 2

        let version: Int
        let hosts: [Host]
        let backups: Backups
    }

    /// Reads the file. Its content is published unchanged, so if any part of it is invalid, none of it is used.
    /// - Throws: `SigningError` `damagedMemory`.
    public init(reading data: Data) throws(SigningError) {
        let file: File
        do {
            file = try JSONDecoder().decode(File.self, from: data)
        } catch {
            throw Self.damaged("the JSON that a round writes", "something else")
        }
        guard file.version == File.version else {
            throw Self.damaged("version \(File.version)", "version \(file.version)")
        }
        guard file.hosts.count <= DocumentLimits().entries else {
            throw Self.damaged("at most \(DocumentLimits().entries) hosts", "\(file.hosts.count)")
        }
        var hosts: [SeenHost] = []
        var known: Set<[String]> = []
        for (index, host) in file.hosts.enumerated() {
            guard host.hostname.utf8.count <= 253, let dialed = try? DialedHost(host.hostname, port: host.port),
                dialed.name == host.hostname, known.insert([dialed.name, "\(host.port)"]).inserted
            else { throw Self.damaged("each host once, as it is dialed", "another name as host \(index + 1)") }
            guard (0...Self.greatestTime).contains(host.validated) else {
                throw Self.damaged("Unix seconds", "\(host.validated) for \(dialed)")
            }
            try Self.check(host.fp.map(\.pin), host.pk.map(\.pin), atMost: SeenHost.maximumPins, of: "\(dialed)")
            guard (host.fp + host.pk).allSatisfy({ (0...Self.greatestTime).contains($0.unseen) }) else {
                throw Self.damaged("the age of a pin in seconds", "another number for \(dialed)")
            }
            hosts.append(
                SeenHost(
                    hostname: host.hostname, port: host.port, validated: Date(wholeSeconds: host.validated),
                    certificates: host.fp.map { .init(text: $0.pin, unseen: .seconds($0.unseen)) },
                    publicKeys: host.pk.map { .init(text: $0.pin, unseen: .seconds($0.unseen)) }))
        }
        try Self.check(file.backups.fp, file.backups.pk, atMost: TrustServerBackups.maximumPins, of: "the backups")
        self.init(
            hosts: hosts, backups: TrustServerBackups(fingerprints: file.backups.fp, publicKeys: file.backups.pk))
    }

    /// The content of the file: JSON in UTF-8.
    public var data: Data {
        get throws(SigningError) {
            let file = File(
                version: File.version,
                hosts: hosts.map { host in
                    File.Host(
                        hostname: host.hostname, port: host.port, validated: host.validated.wholeSeconds,
                        fp: host.certificates.map { File.Pin(pin: $0.text, unseen: $0.unseen.components.seconds) },
                        pk: host.publicKeys.map { File.Pin(pin: $0.text, unseen: $0.unseen.components.seconds) })
                }, backups: File.Backups(fp: backups.fingerprints, pk: backups.publicKeys))
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return try encoder.encode(file)
            } catch {
                throw Self.damaged("what can be written as JSON", "something else")
            }
        }
    }

    /// Far beyond any date, and the last second that a `Date` can still distinguish from the next.
    private static let greatestTime: Int64 = 999_999_999_999_999

    static func check(
        _ fingerprints: [String], _ publicKeys: [String], atMost limit: Int, of owner: String
    ) throws(SigningError) {
        guard fingerprints.count <= limit, publicKeys.count <= limit else {
            throw damaged("at most \(limit) pins of a kind", "more for \(owner)")
        }
        guard fingerprints.allSatisfy(isFingerprint) else {
            throw damaged("SHA-256 in 64 hexadecimal digits", "something else for \(owner)")
        }
        guard publicKeys.allSatisfy(isPublicKey) else {
            throw damaged("Base64 of public keys", "something else for \(owner)")
        }
    }

    static func isFingerprint(_ text: String) -> Bool {
        text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    static func isPublicKey(_ text: String) -> Bool {
        CanonicalBase64.decode(text.utf8).flatMap { try? SubjectPublicKeyInfo(der: $0) } != nil
    }

    private static func damaged(_ expected: String, _ found: String) -> SigningError {
        SigningError(.damagedMemory, expected: expected, found: found)
    }
}
