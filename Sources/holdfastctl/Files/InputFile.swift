import Foundation
import Holdfast

/// What an argument names to be read: a file, or standard input as `-`.
enum InputFile {
    /// The name of standard input and output, in the place of a file's.
    static let standard = "-"

    /// Longer than anything that any verb reads.
    private static let maximumBytes = 64 << 20

    /// Read once: several arguments may name it, and a key stands with its certificate in one file.
    private static let standardInput = Lock<Data?>(nil)

    /// - Throws: where it cannot be read, or is longer than what is asked for can be.
    static func content(of path: String, maximumBytes: Int) throws(CommandFailure) -> Data {
        guard path != standard else {
            let data = try standardContent()
            guard data.count <= maximumBytes else {
                throw CommandFailure(.unreadableFile, "standard input has more than \(maximumBytes) bytes")
            }
            return data
        }
        do {
            return try AtomicFile.read(URL(fileURLWithPath: path), maximumBytes: maximumBytes)
        } catch CocoaError.fileReadTooLarge {
            throw CommandFailure(.unreadableFile, "\(path) has more than \(maximumBytes) bytes")
        } catch {
            throw CommandFailure(.unreadableFile, "\(path) cannot be read: \(AtomicFile.reason(error, at: path))")
        }
    }

    /// Every certificate of a file that is about nothing else.
    static func certificates(of path: String) throws(CommandFailure) -> [X509Certificate] {
        let data = try content(of: path, maximumBytes: CertificateFile.maximumBytes)
        try ForeignFile(data, path: path).refuse(wanting: .certificate)
        do throws(CertificateFileError) {
            let certificates = try CertificateFile.certificates(in: data, named: path)
            guard !certificates.isEmpty else {
                throw CertificateFileError(
                    .notACertificate, file: path, expected: "at least one certificate", found: "other PEM blocks only")
            }
            return certificates
        } catch {
            throw CommandFailure(.unreadableFile, "\(path): \(error)")
        }
    }

    private static func standardContent() throws(CommandFailure) -> Data {
        if let data = standardInput.withLock({ $0 }) { return data }
        let data: Data
        do {
            let handle = FileHandle(fileDescriptor: STDIN_FILENO, closeOnDealloc: false)
            data = try handle.read(upToCount: maximumBytes + 1) ?? Data()
        } catch {
            throw CommandFailure(.unreadableFile, "standard input cannot be read")
        }
        standardInput.withLock { $0 = data }
        return data
    }
}
