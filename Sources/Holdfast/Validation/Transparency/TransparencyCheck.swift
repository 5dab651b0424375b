import struct Foundation.Date

/// Checks whether a leaf has the required timestamps (RFC 6962 3.3; for clients, RFC 6962 5.2).
enum TransparencyCheck {
    static let name = "transparency"
    static let reference = "RFC 6962 3.3"

    /// The cost of finding the log of a timestamp and checking both.
    private static let unitsOfTimestamp = 20

    /// The violation of the timestamps of a leaf; nil if they are enough. Each is verified at most once, and only while
    /// more are needed and its log can still count.
    /// - Parameters:
    ///   - issuer: the issuer whose key signed the leaf; that signature has been verified.
    ///   - time: in seconds since 1970.
    static func violation(
        of leaf: X509Certificate, issuedBy issuer: X509Certificate, asking demand: TransparencyDemand, at time: Int64,
        meter: inout WorkMeter
    ) -> Violation? {
        var tally = TimestampTally(for: leaf, requiresUntiledLog: demand.requiresUntiledLog)
        guard let value = leaf.timestampList else {
            let expected = tally.expectation
            return Violation(.notTransparent, leaf, expected, "a certificate without timestamps")
        }
        guard meter.spend(octets: leaf.der.count + issuer.subjectPublicKeyInfo.count) else {
            return PathSearch.budgetExceeded("the limit for work")
        }
        let readings: [SignedCertificateTimestamp.Reading]
        let precertificate: Precertificate
        do throws(DERError) {
            readings = try SignedCertificateTimestamp.readAll(value, of: leaf.der)
            precertificate = try Precertificate(of: leaf, issuedBy: issuer)
        } catch {
            return Violation(error, in: "SignedCertificateTimestampList", of: leaf)
        }
        guard meter.spend(readings.count * unitsOfTimestamp) else {
            return PathSearch.budgetExceeded("the limit for work")
        }
        var findings: [TimestampFinding] = []
        for (position, reading) in readings.enumerated() {
            guard case .timestamp(let timestamp) = reading else {
                let objection = reading == .malformed ? "it cannot be read" : "it is of another version than 1"
                findings.append(TimestampFinding(position: position, log: nil, date: nil, objection: objection))
                continue
            }
            let log = demand.list.log(withIdentifier: timestamp.logIdentifier)
            var objection = objection(to: timestamp, of: log, for: leaf, at: time)
            if let log, objection == nil {
                if tally.contains(log) {
                    objection = "another of this log counts"
                } else {
                    let length = precertificate.toBeSigned.count + timestamp.extensions.count
                    guard meter.spendSignature(log.verificationWork, hashing: length) else {
                        return PathSearch.budgetExceeded("the limits for signatures")
                    }
                    switch log.check(timestamp, for: precertificate) {
                    case .valid:
                        tally.add(log, at: timestamp.seconds)
                        if tally.isMet { return nil }
                    case .invalid: objection = "its signature does not verify under the log's key"
                    case .unsupported(let name):
                        objection = "its signature was not verified: \(name) is not supported for timestamps"
                    }
                }
            }
            findings.append(
                TimestampFinding(
                    position: position, log: timestamp.text(of: log), date: timestamp.date, objection: objection))
        }
        let (expected, found) = (tally.expectation, tally.shortcomings.joined(separator: ", and "))
        var violation = Violation(.notTransparent, leaf, expected, found)
        violation.timestamps = findings
        return violation
    }

    /// The reason why a timestamp does not count regardless of its signature; nil if only the signature remains to be
    /// verified.
    static func objection(
        to timestamp: SignedCertificateTimestamp, of log: TransparencyLog?, for leaf: X509Certificate, at time: Int64
    ) -> String? {
        guard let log else { return "the log list does not have its log" }
        switch log.state {
        case .qualified, .usable, .readOnly: break
        case .retired(let date):
            guard timestamp.seconds < date.wholeSeconds else { return "its log was retired before it was made" }
        case .pending, .rejected: return "its log is \(log.state?.word ?? "")"
        case nil: return "its log is for tests, or the list does not say where it stands"
        }
        guard timestamp.seconds <= time else { return "it is of the future" }
        guard log.temporalInterval?.contains(leaf.layout.end - 1) ?? true else {
            return "its log does not take certificates that end when this one does"
        }
        return nil
    }
}

extension SignedCertificateTimestamp {
    /// The time at which the log issued it, in whole seconds since 1970.
    var seconds: Int64 { Int64(milliseconds / 1_000) }

    /// The time at which the log issued it; nil past the year 9999.
    fileprivate var date: Date? { seconds <= 253_402_300_799 ? Date(wholeSeconds: seconds) : nil }

    fileprivate func text(of log: TransparencyLog?) -> String {
        guard let log else { return "log \(CanonicalBase64.encode(logIdentifier))" }
        return "\(log.name.quoted) (operator \(log.operatorName(at: seconds).quoted))"
    }
}

extension X509Certificate {
    /// The value of the extension that holds timestamps (RFC 6962 3.3).
    var timestampList: Range<Int>? {
        layout.extensions.first {
            layout.der[$0.identifier].elementsEqual(SignedCertificateTimestamp.extensionIdentifier)
        }?.value
    }
}

extension PathSearch {
    /// The violation of the timestamps of a path whose signatures have been verified; computed once for each issuer.
    mutating func transparencyViolation(of path: [Int]) -> Violation? {
        guard let demand = request.transparency, path.count > 1, let end = path.last else { return nil }
        if nodes[end].isAnchor, demand.exempt.contains(nodes[end].certificate) { return nil }
        let authority = nodes[path[1]].authority
        if let known = transparency[authority] { return known }
        let violation = TransparencyCheck.violation(
            of: nodes[path[0]].certificate, issuedBy: nodes[path[1]].certificate, asking: demand, at: context.time,
            meter: &meter)
        transparency.updateValue(violation, forKey: authority)
        return violation
    }
}
