import Holdfast

extension PublishedPinVersions {
    /// Adds to each report which failures of its host are reported to a host that the same pins cover. Those of hosts
    /// that were not probed are added to the first report.
    package func noteCoveredReports(in reports: inout [CheckReport]) {
        let hosts = reports.map { try? DialedHost($0.host) }
        for covered in versions.flatMap(\.coveredReports) {
            let places = hosts.indices.filter { hosts[$0].map(covered.pattern.matches) == true }
            for index in places.isEmpty ? Array(hosts.indices.prefix(1)) : places {
                reports[index].coveredReports = (reports[index].coveredReports ?? []) + [covered.text]
            }
        }
    }
}
