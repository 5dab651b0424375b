import ArgumentParser
import Foundation
import Holdfast

/// The source of a private key's password. It is never an argument, because all users of the machine can read
/// arguments.
struct PasswordOptions: ParsableArguments {
    @Option(
        name: .customLong("password-file"),
        help: ArgumentHelp("Take the key's password from the first line of this file.", valueName: "file"),
        completion: .file())
    var passwordFile: String?

    @Option(
        name: .customLong("password-fd"),
        help: ArgumentHelp("Take the key's password from the first line of this descriptor.", valueName: "number"))
    var passwordDescriptor: Int32?

    /// The maximum length of a password, in bytes. Anything longer is a file that was given by mistake.
    private static let maximumBytes = 4_096

    func validate() throws {
        guard passwordFile == nil || passwordDescriptor == nil else {
            throw ValidationError("Give --password-file or --password-fd, not both.")
        }
        if let passwordDescriptor, passwordDescriptor < 0 {
            throw ValidationError("--password-fd is the number of a descriptor, not \(passwordDescriptor).")
        }
    }

    var isEmpty: Bool { passwordFile == nil && passwordDescriptor == nil }

    /// Reads the password, or asks for it on the terminal if no option names it.
    /// - Parameter repeating: whether the password is new, and therefore asked for twice.
    func password(for path: String, repeating: Bool = false) throws(CommandFailure) -> [UInt8] {
        let password: [UInt8]
        if let passwordFile {
            KeyFile.warnIfLoose(passwordFile)
            password = try Self.firstLine(of: passwordFile) {
                passwordFile == InputFile.standard
                    ? FileHandle(fileDescriptor: STDIN_FILENO, closeOnDealloc: false)
                    : try FileHandle(forReadingFrom: $0)
            }
        } else if let passwordDescriptor {
            password = try Self.firstLine(of: "descriptor \(passwordDescriptor)") { _ in
                guard fcntl(passwordDescriptor, F_GETFD) >= 0 else { throw CocoaError(.fileReadUnknown) }
                return FileHandle(fileDescriptor: passwordDescriptor, closeOnDealloc: false)
            }
        } else {
            password = try TerminalPrompt.password("Password of \(path): ", repeating: repeating)
        }
        guard !password.isEmpty else { throw CommandFailure(.wrongUsage, "the password for \(path) is empty") }
        return password
    }

    private static func firstLine(
        of name: String, opening: (URL) throws -> FileHandle
    ) throws(CommandFailure) -> [UInt8] {
        var line: [UInt8] = []
        do {
            let handle = try opening(URL(fileURLWithPath: name))
            // Byte by byte, because the program that writes into a pipe may keep it open.
            while let octet = try handle.read(upToCount: 1)?.first, octet != 0x0A, line.count <= maximumBytes {
                line.append(octet)
            }
        } catch {
            throw CommandFailure(
                .unreadableFile, "the password cannot be read from \(name): \(AtomicFile.reason(error, at: name))")
        }
        guard line.count <= maximumBytes else {
            throw CommandFailure(.unreadableFile, "\(name) has more than a password")
        }
        if line.last == 0x0D { line.removeLast() }
        return line
    }
}
