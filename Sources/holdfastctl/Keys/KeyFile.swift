import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// A private key in a file that only its owner can read.
struct KeyFile {
    let path: String

    private static let maximumBytes = 65_536

    /// Reads a key, and asks for its password if it is encrypted.
    func read(_ passwords: PasswordOptions) throws(CommandFailure) -> SigningKey {
        let data = try Self.content(of: path)
        try ForeignFile(data, path: path).refuse(wanting: .privateKey)
        let text = String(decoding: data, as: UTF8.self)
        Self.warnIfLoose(path)
        do throws(SigningError) {
            return try SigningKey(pem: text)
        } catch  where error.code == .passwordNeeded {
            let password = try passwords.password(for: path)
            do throws(SigningError) {
                return try SigningKey(pem: text, password: password)
            } catch {
                throw CommandFailure(.unreadableFile, "\(path): \(error)")
            }
        } catch {
            throw CommandFailure(.unreadableFile, "\(path): \(error)")
        }
    }

    /// Creates the file with mode 0600. An existing file is not overwritten.
    ///
    /// `-` means standard output. If that is a terminal, the user must confirm.
    func create(_ pem: String) throws(CommandFailure) {
        guard path != InputFile.standard else {
            try TerminalPrompt.confirmPrinting("a private key")
            Output.standard.printAsIs(pem.trimmingCharacters(in: .newlines))
            return
        }
        let descriptor = unsafe open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw errno == EEXIST
                ? presence : CommandFailure(.unwritableFile, "\(path) cannot be made: \(CommandFailure.reason(errno))")
        }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            try handle.write(contentsOf: Data(pem.utf8))
            try handle.synchronize()
            try handle.close()
        } catch {
            // Half a key is useless, and would stop the next attempt.
            try? FileManager.default.removeItem(atPath: path)
            throw CommandFailure(.unwritableFile, "\(path) cannot be written: \(AtomicFile.reason(error, at: path))")
        }
    }

    func requireAbsence() throws(CommandFailure) {
        guard path == InputFile.standard || !FileManager.default.fileExists(atPath: path) else { throw presence }
    }

    private var presence: CommandFailure {
        CommandFailure(
            .unwritableFile, "\(path) is there already, and a key that is overwritten is gone: name another file")
    }

    /// Warns if anyone other than the owner may read or write a secret.
    static func warnIfLoose(_ path: String) {
        // The mode of a shell's pipe has no meaning.
        guard
            let attributes = try? FileManager.default.attributesOfItem(
                atPath: URL(fileURLWithPath: path).resolvingSymlinksInPath().path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue, mode & 0o077 != 0
        else { return }
        Output.standard.remark(
            "warning: \(path) has mode 0\(String(mode & 0o777, radix: 8)), so that others may read it: "
                + "chmod 600 \(SafeText.shellWord(path))")
    }

    static func content(of path: String, maximumBytes: Int = maximumBytes) throws(CommandFailure) -> Data {
        try InputFile.content(of: path, maximumBytes: maximumBytes)
    }

    static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}

/// The public key of a signer as an argument: its Base64, or a file with that or with a public key in PEM.
enum PublicKeyArgument {
    static let help = "The signer's public key: the Base64 that holdfastctl export prints, or a file that has it."

    static func key(_ text: String) throws -> DocumentPublicKey {
        if let key = try? DocumentPublicKey(base64: text) { return key }
        guard text == InputFile.standard || FileManager.default.fileExists(atPath: text) || !isLikeBase64(text) else {
            // This throws an error that describes the mistake in the Base64.
            return try DocumentPublicKey(base64: text)
        }
        let content = try KeyFile.content(of: text)
        return try DocumentPublicKey(file: content, path: text)
    }

    /// Whether the text is more likely a key than the name of a missing file. Base64 has no dot and a length that is a
    /// multiple of four; a long text may be a damaged secret, and is not printed as the name of a file.
    private static func isLikeBase64(_ text: String) -> Bool {
        let octets = text.utf8
        if octets.contains(UInt8(ascii: ".")), octets.allSatisfy({ $0 > 0x20 }) { return false }
        return octets.count % 4 == 0 || octets.count >= shortestKey
    }

    /// Shorter than the Base64 of any key.
    private static let shortestKey = 40
}

/// The private key of a signer, for every verb that needs one.
struct KeyOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The private key: PKCS #8 or SEC 1 in PEM, encrypted or not.", valueName: "file"),
        completion: .file(extensions: ["pem", "key"]))
    var key: String

    @OptionGroup(title: "Password")
    var password: PasswordOptions

    func read() throws(CommandFailure) -> SigningKey { try KeyFile(path: key).read(password) }
}
