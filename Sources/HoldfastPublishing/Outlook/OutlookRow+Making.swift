import Foundation

extension PublicationOutlook.Row {
    /// Makes a row of an evaluation.
    /// - Parameter graceEnd: when the document's grace ends, if that is after the evaluated time.
    init(
        host: String, hostIndex: Int, place: String, presentation: Int, document: Int,
        client: PublicationOutlook.Client, holders: PublicationOutlook.Holders, appVersions: [String],
        platform: String, spans: [PublicationOutlook.Span], graceEnd: Date?
    ) {
        self.host = host
        self.hostIndex = hostIndex
        self.place = place
        self.presentation = presentation
        self.document = document
        self.client = client
        self.holders = holders
        self.appVersions = appVersions
        self.platform = platform
        self.spans = spans
        guard let first = spans.first else {
            (verdict, verdictEnd, cause) = (.unknown, nil, nil)
            return
        }
        if !first.getsIn {
            (verdict, verdictEnd, cause) = (.out, spans.first(where: \.getsIn)?.start, first.cause)
        } else if first.isGrace {
            // Grace is not planned access: the access is ending, and grace ends it.
            let next = spans.first { !$0.isGrace }
            let end = next?.start ?? graceEnd
            verdict = .ending
            verdictEnd = end
            cause =
                next?.cause
                ?? PublicationOutlook.Cause(.grace, at: end ?? first.end, first.cause?.words ?? "grace")
        } else if let next = spans.first(where: { !$0.getsIn || $0.isGrace }) {
            (verdict, verdictEnd, cause) = (.ending, next.start, next.cause)
        } else {
            (verdict, verdictEnd, cause) = (.in, nil, nil)
        }
    }

    /// Makes a row for an unknown result.
    init(host: String?, hostIndex: Int?, place: String?, presentation: Int?, cause: PublicationOutlook.Cause) {
        self.host = host
        self.hostIndex = hostIndex
        self.place = place
        self.presentation = presentation
        (document, client, platform) = (nil, nil, nil)
        (holders, appVersions, spans) = (.current, [], [])
        (verdict, verdictEnd) = (.unknown, nil)
        self.cause = cause
    }
}
