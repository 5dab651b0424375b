import struct Foundation.URL
import struct Foundation.URLComponents

extension PinFile {
    /// The destination of failure reports of a host, and the share of connections that are reported.
    package struct Report: Sendable, Hashable {
        /// An `https` URL as it is written in the file.
        package let url: String
        /// The share of failures that are reported.
        package let failureFraction: Fraction
        /// The share of successes that are reported.
        package let successFraction: Fraction

        /// Makes a destination from a URL with a host and without a user, at most 1,024 bytes of ASCII.
        /// - Throws: ``PinFileError`` `invalidValue`.
        package init(
            url: String, failureFraction: Fraction = .one, successFraction: Fraction = .zero
        ) throws(PinFileError) {
            guard Self.isAddress(url) else {
                throw PinFileError(
                    .invalidValue, at: "url", expected: "an https URL with a host and without a user, in ASCII",
                    found: url.quotedAddress)
            }
            self.url = url
            self.failureFraction = failureFraction
            self.successFraction = successFraction
        }

        private static func isAddress(_ text: String) -> Bool {
            guard text.utf8.count <= PinFileLimits.urlBytes, text.utf8.starts(with: "https://".utf8),
                text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }),
                let url = URL(string: text), let parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
            else { return false }
            return parts.user == nil && parts.password == nil && (try? DialedHost(url: url)) != nil
        }
    }
}
