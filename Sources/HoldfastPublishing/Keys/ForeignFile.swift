package import Foundation
import Holdfast

/// Recognizes files that people have but no command reads, and the command that converts each of them.
package struct ForeignFile {
    /// The content that the command expects in a file.
    package enum Purpose {
        case certificate, publicKey, privateKey

        fileprivate var description: String {
            switch self {
            case .certificate: "a document or certificates"
            case .publicKey: "certificates, keys or certificate requests"
            case .privateKey: "a private key in PEM"
            }
        }
    }

    private enum Kind {
        case empty, pkcs12, pkcs7(isDER: Bool), openSSHPrivateKey, openSSHPublicKey, trustedCertificate, javaKeyStore
        case utf16(isMarked: Bool), byteOrderMark, webPage, gluedPEM, rsaPublicKey
    }

    private let path: String
    private let kind: Kind?
    private let data: Data

    package init(_ data: Data, path: String) {
        self.path = path
        kind = Self.kind(of: data)
        self.data = data
    }

    private var hasExplicitParameters: Bool {
        PEMBlocks.read(data).contains { block in
            guard block.kind == .privateKey, case .success(let der) = block.content else { return false }
            do throws(PrivateKeyReader.Failure) {
                _ = try PrivateKeyReader(der: der)
                return false
            } catch {
                return error.hasExplicitParameters
            }
        }
    }

    /// - Throws: if it is such a file. The error names the kind of file and the command, but contains none of its
    ///   content.
    package func check(wanting purpose: Purpose) throws(PublishingError) {
        if purpose == .privateKey, hasExplicitParameters { throw Self.explicitParameters(path) }
        guard let kind else { return }
        let text = text(kind, purpose)
        throw PublishingError(
            .unreadable, of: path, expected: purpose.description, found: "that it is \(text.what)", remedy: text.remedy)
    }

    /// The error for an encrypted key, for commands that do not ask for a password.
    package static func encryptedKey(_ path: String, wanting purpose: Purpose) -> PublishingError {
        let file = quoted(path)
        return PublishingError(
            .unreadable, of: path,
            expected: purpose == .privateKey ? "a private key without encryption" : "a public key",
            found: "an encrypted private key",
            remedy: purpose == .privateKey
                ? "Give one that is not encrypted: openssl pkey -in \(file) -out key.pem"
                : "Make the pin from its public key: openssl pkey -in \(file) -pubout -out public.pem")
    }

    /// The error for a private key with an unnamed elliptic curve.
    /// - Parameter form: the option of openssl for the form of the file.
    static func explicitParameters(_ path: String, form: String = "") -> PublishingError {
        PublishingError(
            .unreadable, of: path,
            expected: "a private key whose elliptic curve has its name, as certificates must have it (RFC 5480 2.1.1)",
            found: "one with the curve's parameters in place of the name",
            remedy:
                "If it is one of the known curves, this writes it with its name: openssl ec \(form)-in \(quoted(path)) "
                + "-param_enc named_curve -out named.pem")
    }

    private func text(_ kind: Kind, _ purpose: Purpose) -> (what: String, remedy: String) {
        let file = Self.quoted(path)
        return switch kind {
        case .empty: ("empty", "Give a file with content.")
        case .utf16(let isMarked):
            (
                "text in UTF-16, as PowerShell writes it",
                "In PowerShell, write it with Out-File -Encoding ascii, or convert it: "
                    + "iconv -f UTF-16\(isMarked ? "" : "LE") -t UTF-8 \(file) > utf8.txt"
            )
        case .byteOrderMark:
            ("JSON after a byte-order mark", "Remove the mark: tail -c +4 \(file) > without-mark.json")
        case .webPage:
            (
                "a web page",
                "Download the file itself: the address may need a sign-in, or be that of a page about the file"
            )
        case .gluedPEM:
            (
                "PEM in which a block begins on the line on which another ends",
                "Put a line break between them: "
                    + "awk '{ gsub(/----------BEGIN /, \"-----\\n-----BEGIN \") } 1' \(file) > fixed.pem"
            )
        case .rsaPublicKey:
            (
                "a public key in PKCS #1 (BEGIN RSA PUBLIC KEY)",
                "Write it as others do: openssl rsa -RSAPublicKey_in -in \(file) -pubout -out public.pem"
            )
        case .pkcs12 where purpose == .privateKey:
            ("a PKCS #12 file", "Take the key out of it: openssl pkcs12 -in \(file) -nocerts -nodes -out key.pem")
        case .pkcs12:
            (
                "a PKCS #12 file",
                "Take the certificates out of it: openssl pkcs12 -in \(file) -nokeys -out certificates.pem"
            )
        case .pkcs7(let isDER):
            (
                "a PKCS #7 file",
                "Take the certificates out of it: openssl pkcs7 "
                    + "\(isDER ? "-inform DER " : "")-in \(file) -print_certs -out certificates.pem"
            )
        case .openSSHPrivateKey where purpose == .privateKey:
            (
                "a private key of OpenSSH",
                "Turn it, in its place, into one that can be read: ssh-keygen -p -N '' -m PEM -f \(file)"
            )
        case .openSSHPrivateKey, .openSSHPublicKey:
            (
                "a key of OpenSSH",
                "Write its public key as others do: ssh-keygen -e -m PKCS8 -f \(file) > public.pem"
            )
        case .trustedCertificate:
            (
                "a certificate with the trust settings of openssl",
                "Take the certificate alone: openssl x509 -in \(file) -out certificate.pem"
            )
        case .javaKeyStore:
            (
                "a key store of Java",
                "Take the certificate out of it: "
                    + "keytool -exportcert -rfc -keystore \(file) -alias NAME -file certificate.pem"
            )
        }
    }

    private static func kind(of data: Data) -> Kind? {
        guard data.contains(where: { !" \t\r\n".utf8.contains($0) }) else { return .empty }
        if data.starts(with: [0xFE, 0xED, 0xFE, 0xED]) { return .javaKeyStore }
        if data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) { return .utf16(isMarked: true) }
        // ASCII text with a zero byte after each character.
        if data.count >= 8, data.prefix(8).enumerated().allSatisfy({ ($0.offset % 2 == 0) == ($0.element != 0) }) {
            return .utf16(isMarked: false)
        }
        if data.starts(with: [0xEF, 0xBB, 0xBF]),
            data.dropFirst(3).first(where: { !" \t\r\n".utf8.contains($0) }) == 0x7B
        {
            return .byteOrderMark
        }
        if isWebPage(data) { return .webPage }
        if data.first == 0x30 { return derKind(Array(data.prefix(40))) }
        if openSSHPrefixes.contains(where: { data.starts(with: $0.utf8) }) { return .openSSHPublicKey }
        if data.range(of: Data("----------BEGIN ".utf8)) != nil { return .gluedPEM }
        let labels = PEMBlocks.read(data).map(\.label)
        // If the file also has readable blocks, they are read, and the other blocks are reported as skipped.
        guard labels.allSatisfy({ foreignLabels.contains($0) }) else {
            return labels.contains("TRUSTED CERTIFICATE") ? .trustedCertificate : nil
        }
        return switch labels.first {
        case "PKCS7", "CMS": .pkcs7(isDER: false)
        case "PKCS12": .pkcs12
        case "OPENSSH PRIVATE KEY": .openSSHPrivateKey
        case "TRUSTED CERTIFICATE": .trustedCertificate
        case "RSA PUBLIC KEY": .rsaPublicKey
        default: nil
        }
    }

    /// Whether it begins with a tag, and is or contains HTML: comments and an XML declaration may precede it.
    private static func isWebPage(_ data: Data) -> Bool {
        let content = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
        guard content.first(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "<") else { return false }
        let head = Data(content.prefix(2_048).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
        return ["<!doctype html", "<html", "<head", "<body"].contains { head.range(of: Data($0.utf8)) != nil }
    }

    private static let foreignLabels: Set<String> = [
        "PKCS7", "CMS", "PKCS12", "OPENSSH PRIVATE KEY", "TRUSTED CERTIFICATE", "RSA PUBLIC KEY",
    ]
    private static let openSSHPrefixes = [
        "ssh-rsa ", "ssh-ed25519 ", "ssh-dss ", "ecdsa-sha2-", "sk-ssh-", "sk-ecdsa-",
    ]

    /// Recognizes DER by the content after the header of the outermost SEQUENCE: PFX begins with its version 3 (RFC
    /// 7292 4), and ContentInfo with the identifier of signed data (RFC 2315 14).
    private static func derKind(_ head: [UInt8]) -> Kind? {
        guard head.count > 2 else { return nil }
        let lengthOctets = head[1] < 0x80 ? 1 : 1 + Int(head[1] & 0x7F)
        let content = head.dropFirst(1 + lengthOctets)
        if content.starts(with: [2, 1, 3, 0x30]) { return .pkcs12 }
        return content.starts(with: [6, 9, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 2]) ? .pkcs7(isDER: true) : nil
    }

    /// The path, quoted for a shell.
    package static func quoted(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { octet in
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isPlain && !path.isEmpty ? path : "'\(path.replacing("'", with: "'\\''"))'"
    }
}
