#if os(macOS) || os(Linux)
import Foundation
import HoldfastTestSupport
import HoldfastTesting

/// `openssl` reading and verifying what the kit makes.
enum ForeignReading {
    /// The text of `openssl x509 -text`, with the exit status in front when it is not zero.
    static func text(of der: [UInt8]) async throws -> String {
        try await withTemporaryFolder { folder in
            try Data(der).write(to: folder.appending(path: "certificate.der"))
            let output = try await OpenSSLProgram.run(
                ["x509", "-inform", "DER", "-in", "certificate.der", "-noout", "-text"], in: folder)
            return output.status == 0 ? output.text : "status \(output.status): \(output.text)"
        }
    }

    /// The complaint of `openssl verify` about a chain, leaf first; nil if it has none.
    static func complaint(
        about chain: [[UInt8]], root: [UInt8], host: String? = nil, at date: Date? = nil
    ) async throws -> String? {
        try await withTemporaryFolder { folder in
            func write(_ name: String, _ certificates: [[UInt8]]) throws {
                let text = certificates.map(TestCertificate.pem).joined()
                try Data(text.utf8).write(to: folder.appending(path: name))
            }
            try write("root.pem", [root])
            try write("leaf.pem", Array(chain.prefix(1)))
            try write("others.pem", Array(chain.dropFirst()))
            var arguments = [
                "verify", "-x509_strict", "-no-CAstore", "-no-CApath", "-CAfile", "root.pem", "-purpose", "sslserver",
            ]
            if chain.count > 1 { arguments += ["-untrusted", "others.pem"] }
            if let host { arguments += ["-verify_hostname", host] }
            if let date { arguments += ["-attime", String(Int(date.timeIntervalSince1970))] }
            let output = try await OpenSSLProgram.run(arguments + ["leaf.pem"], in: folder)
            return output.status == 0 ? nil : output.text
        }
    }
}
#endif
