package import ServerFoundation

/// The text that an approver signs (`holdfast-approval-v1`): eleven lines of printable ASCII, each ended by a line
/// feed. Each meaning has exactly one text, so the bytes can be compared.
///
/// ```text
/// holdfast-approval-v1
/// 0f1e2d3c4b5a69788796a5b4c3d2e1f0            server
/// bank                                        app
/// 00112233445566778899aabbccddeeff            change
/// approve                                     or reject
/// 41                                          base generation
/// (64 hexadecimal digits)                     SHA-256 of the content
/// (64 hexadecimal digits)                     SHA-256 of the outlook
/// canary,lint                                 forced gates, or -
/// (64 hexadecimal digits)                     SHA-256 of the statement of approvers and number
/// 2026-11-24T12:00:00Z                        end
/// ```
/// The remarks on the right are not part of the text.
package struct ApprovalText: Sendable, Hashable {
    /// The approver's verdict.
    package enum Verdict: String, Sendable, Hashable, CaseIterable {
        /// Publish it.
        case approve
        /// Never publish it.
        case reject
    }

    /// The fields that all approvals of one change share.
    package struct Subject: Sendable, Hashable {
        /// The server that asks.
        package let server: RandomID
        /// The app that is changed.
        package let app: AppName
        /// The change.
        package let change: RandomID
        /// The generation that the change replaces.
        package let baseGeneration: Int64
        /// The digest of the canonical content.
        package let content: Digest
        /// The digest of the stored outlook.
        package let outlook: Digest
        /// The gates that the change passes even if it fails them.
        package let forced: Set<Gate>
        /// The digest of the statement of approvers in force.
        package let approvers: Digest

        /// Describes a change to approve or reject.
        /// - Throws: ``ServerError`` `invalidValue` for a generation that is negative or has more than 53 bits, and for
        ///   a gate that cannot be forced.
        package init(
            server: RandomID, app: AppName, change: RandomID, baseGeneration: Int64, content: Digest,
            outlook: Digest, forced: Set<Gate> = [], approvers: Digest
        ) throws(ServerError) {
            guard (0...CanonicalJSON.maximumInteger).contains(baseGeneration) else {
                throw ServerError(
                    .invalidValue, of: "base generation", expected: "0 or more, at most 53 bits",
                    found: "\(baseGeneration)")
            }
            if let gate = forced.first(where: { !$0.canBeForced }) {
                throw ServerError(
                    .invalidValue, of: "forced gates", expected: "gates that can be forced", found: gate.rawValue,
                    remedy: "Correct the change; this gate has no exception.")
            }
            self.server = server
            self.app = app
            self.change = change
            self.baseGeneration = baseGeneration
            self.content = content
            self.outlook = outlook
            self.forced = forced
            self.approvers = approvers
        }
    }

    /// The change that is approved or rejected.
    package let subject: Subject
    /// The approver's verdict.
    package let verdict: Verdict
    /// The last second at which the approval is valid, in seconds since 1970.
    package let end: Int64
    /// The bytes to sign.
    package let bytes: [UInt8]

    private static let header = "holdfast-approval-v1"
    /// Maximum size in bytes; every valid text is shorter.
    private static let limit = 1_024

    /// Writes the text.
    /// - Throws: ``ServerError`` `invalidValue` for an end that is not in the years 1970 to 9999.
    package init(_ verdict: Verdict, _ subject: Subject, end: Int64) throws(ServerError) {
        guard let until = UTCText.encode(end) else {
            throw ServerError(.invalidValue, of: "end", expected: "a time from 1970 to 9999", found: "\(end)")
        }
        self.subject = subject
        self.verdict = verdict
        self.end = end
        let gates = subject.forced.map(\.rawValue).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let lines = [
            Self.header, "\(subject.server)", "\(subject.app)", "\(subject.change)", verdict.rawValue,
            "\(subject.baseGeneration)", "\(subject.content)", "\(subject.outlook)",
            gates.isEmpty ? "-" : gates.joined(separator: ","), "\(subject.approvers)", until,
        ]
        bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    }

    /// Reads a text.
    /// - Throws: ``ServerError`` `malformed`, for anything that ``init(_:_:end:)`` would not write.
    package init(_ bytes: [UInt8]) throws(ServerError) {
        var reader = try LineReader(bytes, "approval", limit: Self.limit)
        try reader.line("header", equalTo: Self.header)
        let id = "32 hexadecimal digits"
        let digest = "64 lower-case hexadecimal digits"
        let server = try reader.line("server", id) { RandomID(hex: $0) }
        let app = try reader.line("app", "the name of an app") { AppName(bytes: $0) }
        let change = try reader.line("change", id) { RandomID(hex: $0) }
        let verdict = try reader.line("verdict", "approve or reject") { line in
            Verdict.allCases.first { $0.rawValue.utf8.elementsEqual(line) }
        }
        let base = try reader.number("base generation", in: 0...CanonicalJSON.maximumInteger)
        let content = try reader.line("content", digest) { Digest(hex: $0) }
        let outlook = try reader.line("outlook", digest) { Digest(hex: $0) }
        let forced = try reader.line("forced gates", "- or sorted names of gates") { Self.gates($0) }
        let approvers = try reader.line("approvers", digest) { Digest(hex: $0) }
        let end = try reader.line("end", "a time such as 2026-11-24T12:00:00Z") { UTCText.decode($0) }
        try reader.finish()
        try self.init(
            verdict,
            Subject(
                server: server, app: app, change: change, baseGeneration: base, content: content, outlook: outlook,
                forced: forced, approvers: approvers),
            end: end)
        // The lines were parsed strictly; this comparison covers the text as a whole.
        guard self.bytes == bytes else {
            throw ServerError(.malformed, of: "approval", expected: "the one spelling", found: "another")
        }
    }

    private static func gates(_ line: ArraySlice<UInt8>) -> Set<Gate>? {
        if line.elementsEqual([UInt8(ascii: "-")]) { return [] }
        var gates: Set<Gate> = []
        for name in line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            guard let gate = Gate.allCases.first(where: { $0.rawValue.utf8.elementsEqual(name) }),
                gate.canBeForced, gates.insert(gate).inserted
            else { return nil }
        }
        return gates
    }
}
