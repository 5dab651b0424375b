package import ServerFoundation

extension ReportReader {
    /// Reads a daily summary of Holdfast's clients, after RFC 8460 section 4: the numbers of sampled successes and
    /// failures, by host and document version. Each kind of result is one report, whatever number of connections it
    /// represents, because one client sends all of them.
    package func summary() throws(ServerError) -> [ClientReport] {
        var reports: [ClientReport] = []
        // A summary without a day may be about any day.
        let begins = Self.time(try object("date-range").fields["start-datetime"]) ?? .time(0)
        for element in try elements("policies", atMost: Self.maximumCount) {
            let place = try ReportReader(element)
            let (policy, sums) = (try place.object("policy"), try place.object("summary"))
            let sampling = try place.object("sampling")
            let host = try Self.name(try policy.text("policy-domain"), "policy-domain")
            let version = try policy.documentVersion()
            func add(_ code: ClientReport.Code, _ count: Int64, _ fraction: String) throws(ServerError) {
                guard count > 0 else { return }
                reports.append(
                    ClientReport(
                        code: code, host: host, notedHost: nil, port: nil,
                        platform: ClientReport.Platform(try optionalText("app-platform") ?? []),
                        appVersion: ClientReport.version(try optionalText("app-version") ?? []),
                        documentVersion: version,
                        weight: Self.weight(of: count, at: try sampling.fraction(fraction)), isRated: true,
                        chain: nil, pins: [], begins: begins))
            }
            try add(.ok, try sums.count("total-successful-session-count"), "success-fraction")
            for (code, count) in try place.failures() { try add(code, count, "failure-fraction") }
        }
        return reports
    }

    /// The number of failures of an entry, in the order of the codes.
    private func failures() throws(ServerError) -> [(code: ClientReport.Code, count: Int64)] {
        var counts: [ClientReport.Code: Int64] = [:]
        for element in try elements("failure-details", atMost: Self.maximumCount) {
            let detail = try ReportReader(element)
            let code = ClientReport.Code(failure: try detail.text("result-type"))
            counts[code, default: 0] += try detail.count("failed-session-count")
        }
        return ClientReport.Code.allCases.compactMap { code in counts[code].map { (code, $0) } }
    }

    private func object(_ field: String) throws(ServerError) -> ReportReader {
        guard let value = fields[field] else { return try ReportReader(.object([:])) }
        return try ReportReader(value)
    }

    /// A number of connections. One client has less than a million of them per day.
    private func count(_ field: String) throws(ServerError) -> Int64 {
        switch fields[field] {
        case nil: return 0
        case .integer(let number)? where (0...1_000_000).contains(number): return number
        default: throw Self.invalid(field, "0 to 1000000")
        }
    }
}
