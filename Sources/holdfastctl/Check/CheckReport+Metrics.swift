import Foundation
import HoldfastPublishing

extension CheckReport {
    /// The result as metrics: the host with its address, its own exit code, and the ends.
    var metrics: PrometheusText.Subject {
        let all = (chain ?? []) + (anchor.map { [$0] } ?? [])
        let path = all.filter { $0.inValidPath == true }
        let end = (path.isEmpty ? all : path).compactMap { try? Date($0.notAfter ?? "", strategy: .iso8601) }.min()
        var subject = PrometheusText.Subject(name: place, status: CheckCommand.status(of: [self]))
        if let end { subject.ends.append(("certificate", end)) }
        if let end = published?.until.flatMap({ try? Date($0, strategy: .iso8601) }), published?.isLockedOut == false {
            subject.ends.append(("pins", end))
        }
        if published != nil { subject.coveredReports = coveredReports?.count ?? 0 }
        return subject
    }
}
