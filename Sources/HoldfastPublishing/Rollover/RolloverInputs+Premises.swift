import Foundation
import Holdfast

extension RolloverInputs {
    /// The assumptions of the advice, one sentence each: versions, documents, staleness, addresses, anchors, clock.
    package var premises: [String] {
        OutlookPremises.basis(
            of: .init(
                documents: documents, hosts: [.init(host, port: port, shown: servers)], platforms: platforms,
                appVersions: appVersions, staleness: staleness ?? .zero, now: now),
            isStalenessKnown: staleness != nil)
    }
}
