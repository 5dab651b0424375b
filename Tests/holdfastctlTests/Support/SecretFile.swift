import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// A file with a secret, of each kind that an operator has, and damaged copies of it.
struct SecretFile: CustomTestStringConvertible {
    let name: String
    let content: [UInt8]
    /// The bytes that must never be printed.
    let secrets: [[UInt8]]

    var testDescription: String { name }

    static let password = "correct horse battery"

    /// - Parameter password: of the key that is encrypted.
    static func all() throws -> [SecretFile] {
        let key = SigningKey()
        let point = Array(try #require(Data(base64Encoded: key.publicKey.base64)))
        let number = Array(try #require(Data(base64Encoded: key.exportedPrivateKey)))
        let scalar = Array((([UInt8](repeating: 0, count: 32)) + number).suffix(32))
        let sec1: [UInt8] =
            [0x30, 0x77, 2, 1, 1, 4, 0x20] + scalar + [0xA0, 0x0A, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
            + [0xA1, 0x44, 3, 0x42, 0] + point
        let pkcs8 = try der(ofPEM: key.pem)
        let encryptedPEM = try key.pem(password: Array(password.utf8), rounds: 100)
        let encrypted = try der(ofPEM: encryptedPEM)
        let ciphertext = Array(encrypted.suffix(128))
        let rsa = try TestKey(.sharedRSA(bits: 2048, index: 0))
        // Behind the version, the algorithm and the head of the private key.
        let pkcs1 = Array(rsa.privateKeyDER.dropFirst(26))
        // Behind the modulus and the exponent, which are public.
        let primes = Array(pkcs1.dropFirst(273))
        let p384 = try TestKey(.p384).privateKeyDER
        let ed25519 = try TestKey(.ed25519).privateKeyDER
        let old = (0..<120).map { _ in UInt8.random(in: 0...255) }
        let oldPEM = pem("EC PRIVATE KEY", old)
            .replacing(
                "KEY-----\n", with: "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", maxReplacements: 1
            )
        return [
            SecretFile(name: "pkcs8.pem", content: Array(key.pem.utf8), secrets: [scalar]),
            SecretFile(name: "pkcs8.der", content: pkcs8, secrets: [scalar]),
            SecretFile(name: "sec1.pem", content: Array(pem("EC PRIVATE KEY", sec1).utf8), secrets: [scalar]),
            SecretFile(name: "sec1.der", content: sec1, secrets: [scalar]),
            SecretFile(name: "rsa.pem", content: Array(pem("RSA PRIVATE KEY", pkcs1).utf8), secrets: [primes]),
            SecretFile(name: "rsa8.pem", content: Array(rsa.privateKeyPEM.utf8), secrets: [primes]),
            SecretFile(name: "rsa.der", content: pkcs1, secrets: [primes]),
            SecretFile(
                name: "p384.pem", content: Array(pem("PRIVATE KEY", p384).utf8),
                secrets: [Array(p384.dropFirst(35).prefix(48))]),
            SecretFile(
                name: "ed25519.pem", content: Array(pem("PRIVATE KEY", ed25519).utf8),
                secrets: [Array(ed25519.suffix(32))]),
            SecretFile(name: "encrypted.pem", content: Array(encryptedPEM.utf8), secrets: [ciphertext, scalar]),
            SecretFile(name: "encrypted.der", content: encrypted, secrets: [ciphertext, scalar]),
            SecretFile(name: "old.pem", content: Array(oldPEM.utf8), secrets: [old]),
            SecretFile(name: "number", content: Array((key.exportedPrivateKey + "\n").utf8), secrets: [scalar]),
            SecretFile(name: "password", content: Array((password + "\n").utf8), secrets: [Array(password.utf8)]),
        ]
    }

    private static func pem(_ label: String, _ der: [UInt8]) -> String {
        let body = Data(der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return "-----BEGIN \(label)-----\n\(body)\n-----END \(label)-----\n"
    }

    private static func der(ofPEM pem: String) throws -> [UInt8] {
        let body = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        return Array(try #require(Data(base64Encoded: body)))
    }

    // MARK: Damage

    /// The file as it is, and damaged in every way that the kinds of damage know.
    var copies: [[UInt8]] { [content] + (name.hasSuffix(".der") ? damagedOctets : damagedLines) }

    private var damagedOctets: [[UInt8]] {
        let places = [0, 1, 2, 3, 4, 5, 8, 20, 26, 30, 33, content.count / 2, content.count - 2]
        var copies: [[UInt8]] = []
        for place in places where place < content.count {
            copies.append(Array(content.prefix(place)))
            copies.append(Array(content.dropFirst(place)))
            for change in [0x01, 0x80, 0xFF] as [UInt8] {
                var copy = content
                copy[place] ^= change
                copies.append(copy)
            }
        }
        let base64 = Array(Data(content).base64EncodedString().utf8)
        let hexadecimal = Array(content.map { String(format: "%02x", $0) }.joined().utf8)
        return copies + [content + content, content + [0], [0] + content, base64, hexadecimal]
    }

    private var damagedLines: [[UInt8]] {
        let text = String(decoding: content, as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        // A long file has many lines that are alike.
        let places = lines.indices.filter { $0 < 4 || $0 >= lines.count - 3 || $0 == lines.count / 2 }
        var copies: [String] = []
        func add(_ lines: [String]) { copies.append(lines.joined(separator: "\n") + "\n") }
        func add(at place: Int, _ replacement: [String]) {
            add(lines[..<place] + replacement + lines[(place + 1)...])
        }
        for place in places {
            let line = lines[place]
            let half = line.index(line.startIndex, offsetBy: line.count / 2)
            add(at: place, [])
            add(at: place, [line, line])
            add(at: place, [String(line[..<half])])
            add(at: place, [String(line[half...])])
            for garbage in ["!", "\u{1B}[2J", "é", "\"", "=", " ", "\n", "@", "/", ":"] {
                add(at: place, [line[..<half] + garbage + line[half...]])
            }
            if place + 1 < lines.count {
                add(lines[..<place] + [line + lines[place + 1]] + lines[(place + 2)...])
            }
        }
        for label in ["CERTIFICATE", "PUBLIC KEY", "CERTIFICATE REQUEST", "PRIVATE KYE", "X", "ENCRYPTED PRIVATE KEY"] {
            let typed =
                ["EC PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PRIVATE KEY"]
                .first { text.contains($0) } ?? "PRIVATE KEY"
            copies.append(text.replacing(typed, with: label))
            copies.append(text.replacing("BEGIN \(typed)", with: "BEGIN \(label)"))
            copies.append(text.replacing("END \(typed)", with: "END \(label)"))
        }
        copies += [
            text.replacing("\n", with: ""), text.replacing("\n", with: " "), text.replacing("\n", with: "\\n"),
            text.replacing("-----\n", with: "-----"), text.replacing("\n-----", with: "-----"),
            text.replacing("-----", with: "---"), text.replacing("-----BEGIN", with: "----- BEGIN"),
            text + text, "{\"fingerprints\":\"\(text.replacing("\n", with: "\\n"))\"}", "Key:\n" + text,
            "https://user:\(text.replacing("\n", with: ""))@host", text.lowercased(),
        ]
        return copies.map { Array($0.utf8) }
    }
}
