import Foundation
import Holdfast
import HoldfastProbe
import HoldfastPublishing

extension HostFindings {
    /// The findings as clients may meet them: every chain with its address, and every address that could not be probed.
    func presentations(at time: Date) -> [PublicationOutlook.Presentation] {
        var presentations = sightings.map { sighting -> PublicationOutlook.Presentation in
            let place = sighting.address.map { "\($0)" } ?? host.description
            guard let chain = sighting.shown?.decision.chain else {
                let words = sighting.failure.map { failure in
                    [failure.sentence, advice(on: failure)].compactMap(\.self).joined(separator: ". ")
                }
                return .init(unreadable: place, because: words ?? "it showed no certificates")
            }
            return .init(chain, at: place, seen: time)
        }
        if isChosenByProxy, let remark { presentations.append(.init(unreadable: "other addresses", because: remark)) }
        return presentations
    }
}
