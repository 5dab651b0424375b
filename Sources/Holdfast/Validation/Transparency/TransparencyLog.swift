package import struct Foundation.Date

/// A log of certificates (RFC 6962), as a log list describes it: its operators, its key, and the certificates it
/// accepts.
package struct TransparencyLog: Sendable, Hashable {
    /// The state of a log, according to the list.
    package enum State: Sendable, Hashable {
        /// It has applied but is not listed yet.
        case pending
        /// It is listed, but some clients may not know it yet.
        case qualified
        /// It is listed and known.
        case usable
        /// It accepts no more certificates, but still serves those that it has.
        case readOnly
        /// It ended at this time; timestamps from before still count.
        case retired(since: Date)
        /// It never counts.
        case rejected

        /// Whether at least one of a certificate's timestamps has to come from a log in this state.
        var isCurrent: Bool {
            switch self {
            case .qualified, .usable, .readOnly: true
            case .pending, .retired, .rejected: false
            }
        }
    }

    /// A former operator of a log.
    package struct FormerOperator: Sendable, Hashable {
        /// The name in the list.
        package let name: String
        /// The first instant at which another operator ran it.
        package let end: Date
    }

    /// The certificates that a log accepts, by the end of their validity.
    package struct TemporalInterval: Sendable, Hashable {
        /// The earliest notAfter that it accepts.
        package let start: Date
        /// The first notAfter after that which it no longer accepts.
        package let end: Date

        func contains(_ seconds: Int64) -> Bool { start.wholeSeconds <= seconds && seconds < end.wholeSeconds }
    }

    /// The display name.
    package let name: String
    /// The key that its timestamps verify under: P-256, or RSA of at least 2048 bits (RFC 6962 2.1.4).
    package let key: SubjectPublicKeyInfo
    /// SHA-256 of the key, by which timestamps name the log (RFC 6962 3.2).
    package let identifier: [UInt8]
    /// The current operator. Operators are distinguished by the bytes of their names.
    package let operatorName: String
    /// The former operators, the earliest first.
    package let formerOperators: [FormerOperator]
    /// Its state; nil, so that it never counts, if the list does not state it or the log is for tests.
    package let state: State?
    /// The certificates that it accepts; nil for all.
    package let temporalInterval: TemporalInterval?
    /// Whether it is read as tiles (static-ct-api) rather than according to RFC 6962. Its timestamps count the same.
    package let isTiled: Bool

    private let verificationKey: VerificationKey?

    /// Describes a log with the DER of its key; its former operators may come in any order.
    /// - Throws: ``CertificateError`` if the key is not a SubjectPublicKeyInfo.
    package init(
        name: String, key: [UInt8], operatorName: String, formerOperators: [FormerOperator] = [], state: State?,
        temporalInterval: TemporalInterval? = nil, isTiled: Bool = false
    ) throws(CertificateError) {
        self.name = name
        self.key = try SubjectPublicKeyInfo(der: key)
        identifier = SHA256Digest.of(key)
        self.operatorName = operatorName
        self.formerOperators = formerOperators.sorted { $0.end < $1.end }
        self.state = state
        self.temporalInterval = temporalInterval
        self.isTiled = isTiled
        verificationKey = VerificationKey(der: key)
    }

    /// Two logs are equal when all their properties are.
    package static func == (left: TransparencyLog, right: TransparencyLog) -> Bool { left.encoded == right.encoded }

    /// Consistent with equality.
    package func hash(into hasher: inout Hasher) { hasher.combine(octets: identifier[...]) }

    /// All of its properties, each with its length.
    var encoded: [UInt8] {
        func seconds(_ date: Date?) -> String { date.map { String($0.wholeSeconds) } ?? "" }
        var parts = [
            Array(name.utf8), Array(key.der), Array(operatorName.utf8), Array(isTiled ? "tiled".utf8 : "".utf8),
            Array(seconds(temporalInterval?.start).utf8), Array(seconds(temporalInterval?.end).utf8),
            Array((state.map { "\($0.word) \(seconds($0.retirement))" } ?? "").utf8),
        ]
        for former in formerOperators { parts += [Array(former.name.utf8), Array(seconds(former.end).utf8)] }
        return parts.flatMap { Array("\($0.count) ".utf8) + $0 }
    }
}

extension TransparencyLog {
    /// The operator at a time, in seconds since 1970.
    func operatorName(at seconds: Int64) -> String {
        formerOperators.first { seconds < $0.end.wholeSeconds }?.name ?? operatorName
    }

    /// The cost of verifying a signature under its key, see ``CertificatePublicKey/verificationWork``.
    var verificationWork: Int { verificationKey?.verificationWork ?? 0 }

    /// Checks whether it signed a timestamp for a certificate, which is the only costly step.
    func check(_ timestamp: SignedCertificateTimestamp, for precertificate: Precertificate) -> SignatureCheck {
        let scheme: VerificationKey.Scheme
        switch timestamp.algorithm {
        case .ecdsa: scheme = .ecdsaP256
        case .rsa: scheme = .rsaPKCS1
        case .other(let name): return .unsupported(name)
        }
        guard let verificationKey else { return .unsupported("a key that cannot be read") }
        if let name = verificationKey.unsupportedName(for: .ecdsaP256),
            verificationKey.unsupportedName(for: .rsaPKCS1) != nil
        {
            return .unsupported(name)
        }
        let content = timestamp.signedContent(of: precertificate)
        let isSigned = verificationKey.verifies(Array(timestamp.signature), over: content, by: scheme)
        return isSigned ? .valid : .invalid
    }
}

extension TransparencyLog.State {
    /// The word for messages and digests.
    var word: String {
        switch self {
        case .pending: "pending"
        case .qualified: "qualified"
        case .usable: "usable"
        case .readOnly: "read-only"
        case .retired: "retired"
        case .rejected: "rejected"
        }
    }

    /// The time at which it was retired.
    var retirement: Date? {
        if case .retired(let date) = self { date } else { nil }
    }
}
