extension PathSearch {
    /// Equal for certificates of one name and key; nearly always told apart by the end of the key.
    struct Authority: Equatable {
        private let end: UInt64
        private let name: DistinguishedName
        private let key: ArraySlice<UInt8>

        init(_ certificate: X509Certificate) {
            name = certificate.subject
            key = certificate.subjectPublicKeyInfo
            end = key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }

        static func == (left: Authority, right: Authority) -> Bool {
            left.end == right.end && left.name == right.name && left.key == right.key
        }
    }
}
