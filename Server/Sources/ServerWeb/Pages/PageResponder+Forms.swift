package import HoldfastPublishing
package import ServerFoundation
import ServerModel
import ServerStore

/// Shows forms.
extension PageResponder {
    /// The time for which clients of an app use a replaced document; nil for a form that does not need it.
    package func timing(of route: FormRoute) async throws(ServerError) -> PublicationTiming? {
        guard case .next(let app) = route, catalog.apps.contains(app) else { return nil }
        return try await catalog.app(app).settings.timing
    }

    /// The page of a form for a viewer who may submit it.
    /// - Throws: ``ServerError`` `notFound` for other viewers, and for an app or a host that does not exist.
    func formPage(
        _ route: FormRoute, _ entries: FormEntries, _ refusal: FormRefusal?, _ frame: PageFrame, _ viewer: Viewer
    ) async throws(ServerError) -> Made {
        guard route.isOpen(to: viewer), route.app.map(catalog.apps.contains) ?? true else { throw Self.missing }
        var frame = frame
        frame.above = (PageLink.overview, "Overview")
        if let app = route.app { frame.above = (PageLink.app(app), "App \(app)") }
        if case .next(let app) = route, refusal == nil {
            let port = LineReader.number(entries.bytes("port")[...]) ?? 0
            let host = try await catalog.host(entries.shown("host"), port, of: app)
            frame.above = (PageLink.host(host, of: app), "Host \(host.label)")
        }
        let isPublished = route.app.map { catalog.ledger.generation(of: $0) > 0 } ?? false
        let form = FormPage(route: route, entries: entries, refusal: refusal, isPublished: isPublished)
        frame.title = form.title
        return Made(.form, frame, form.content(csrf: viewer.csrfToken))
    }
}
