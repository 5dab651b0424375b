import Holdfast
import NIOCore
import NIOHTTP1
package import PinPublication
package import ServerFoundation
package import ServerHTTP
package import ServerStore

/// Answers browsers of signed-in viewers with pages. It only reads: each change is a `POST` that other responders
/// answer.
package struct PageResponder: Sendable {
    package let publisher: Publisher
    private let templates: PageTemplates
    private let script: (body: ByteBuffer, tag: String)
    private let session: SessionFinder
    private let viewer: ViewerFinder
    private let rates: PageRates
    private let notices = ApproverNotices()
    /// The summaries of all apps for the overview.
    let summaries = AppSummaries()
    /// The cached facts of changes.
    package let changes = ChangeReader()

    package var catalog: Catalog { publisher.catalog }

    /// - Parameters:
    ///   - publisher: the publisher, with the catalog.
    ///   - script: the script that talks to passkeys.
    ///   - rates: limits how often pages are made.
    ///   - session: finds the session whose share a request takes.
    ///   - viewer: finds the viewer of a request.
    /// - Throws: ``ServerError`` `malformed` if a template cannot be read.
    package init(
        _ publisher: Publisher, script: [UInt8] = PackageResources.passkeys_js, rates: PageRates = PageRates(),
        session: @escaping SessionFinder,
        viewer: @escaping ViewerFinder
    ) throws(ServerError) {
        self.publisher = publisher
        self.rates = rates
        self.session = session
        self.viewer = viewer
        templates = try PageTemplates()
        self.script = (ByteBuffer(bytes: script), "\"\(Digest(of: script))\"")
    }

    /// Answers a request with a page; nil for an address of no page.
    package func answer(_ request: ListenerRequest) async -> ListenerAnswer? {
        guard let target = try? RequestTarget(request.head.uri.utf8), let route = PageRoute(path: target.path) else {
            return nil
        }
        guard request.head.method == .GET || request.head.method == .HEAD else {
            return ListenerAnswer(.methodNotAllowed, body: ByteBuffer(), headers: [("Allow", "GET, HEAD")])
        }
        // Requests of strangers behind the same address must not use up the share of signed-in viewers.
        let wait =
            if let session = session(request) { rates.take(session: session, isOfFile: route.isOfFile) } else {
                rates.take(request.source)
            }
        if let wait { return tooMany(wait) }
        do throws(ServerError) {
            return try await answer(route, target, request)
        } catch {
            return await problem(error, nil)
        }
    }

    private func answer(
        _ route: PageRoute, _ target: RequestTarget, _ request: ListenerRequest
    ) async throws(ServerError) -> ListenerAnswer {
        switch route {
        case .style(let path):
            // A page of an earlier version requests an old style sheet; it is readable without one.
            guard path.elementsEqual(templates.stylePath.utf8) else {
                return ListenerAnswer(.notFound, body: ByteBuffer(), headers: [("Cache-Control", "no-store")])
            }
            return PageAnswer.file(
                templates.style, type: "text/css; charset=utf-8", tag: templates.styleTag, isForEver: true, to: request)
        case .script:
            return PageAnswer.file(
                script.body, type: "text/javascript; charset=utf-8", tag: script.tag, isForEver: false, to: request)
        default: break
        }
        let viewer = try await viewer(request)
        if route.isForAnybody { return try await greeting(route, viewer) }
        guard let viewer else { return PageAnswer.redirect(to: PageLink.signIn) }
        do throws(ServerError) {
            let query = try PageQuery(target, route)
            return html(try await page(route, query, viewer))
        } catch {
            return await problem(error, viewer)
        }
    }

    /// The sign-in and invitation pages, for requests without a session.
    private func greeting(_ route: PageRoute, _ viewer: Viewer?) async throws(ServerError) -> ListenerAnswer {
        guard case .invitation(let id) = route else {
            guard viewer == nil else { return PageAnswer.redirect(to: PageLink.overview) }
            let notices = try await notices.notices(in: catalog)
            return html(Made(.signIn, PageFrame(title: "Sign in", notices: notices, needsScript: true), [:]))
        }
        // Only the holder of its token learns whether an invitation exists.
        let frame = PageFrame(
            title: "Register a passkey", viewer: viewer, notices: try await notices.notices(in: catalog),
            needsScript: true)
        return html(Made(.invitation, frame, ["id": .text("\(id)")]))
    }

    // MARK: Answers

    /// A page before rendering.
    struct Made: Sendable {
        let page: PageTemplates.Page
        let frame: PageFrame
        let content: [String: PageValue]

        init(_ page: PageTemplates.Page, _ frame: PageFrame, _ content: [String: PageValue]) {
            self.page = page
            self.frame = frame
            self.content = content
        }
    }

    private func html(
        _ made: Made, _ status: HTTPResponseStatus = .ok, headers: [(name: String, value: String)] = []
    ) -> ListenerAnswer {
        let value = made.frame.value(around: made.content, style: templates.stylePath)
        var answer = PageAnswer.html(templates.html(made.page, value), status, headers: headers)
        answer.caller = made.frame.viewer.map { "passkey of \($0.name)" }
        return answer
    }

    /// Answers a submitted form with its errors.
    package func form(
        _ route: FormRoute, _ entries: FormEntries, _ refusal: FormRefusal, to viewer: Viewer
    ) async -> ListenerAnswer {
        do throws(ServerError) {
            let frame = PageFrame(
                title: "", viewer: viewer, notices: try await notices.notices(in: catalog),
                made: try await catalog.now())
            let made = try await formPage(route, entries, refusal, frame, viewer)
            return html(made, refusal.error.status, headers: refusal.error.headers)
        } catch {
            return await problem(error, viewer)
        }
    }

    /// Answers a request that was refused before it was evaluated.
    package func refusal(_ error: AdministrationError, to viewer: Viewer?) async -> ListenerAnswer {
        let frame = PageFrame(
            title: "Nothing was done", viewer: viewer, notices: (try? await notices.notices(in: catalog)) ?? [])
        let subject = error.field.map { " about \($0)" } ?? ""
        let words = "\(error.code.rawValue)\(subject): expected \(error.expected), found \(error.found)."
        var answer = html(
            Made(.problem, frame, ["words": .text(words), "remedy": .text(error.remedy)]), error.status,
            headers: error.headers)
        answer.pauses = error.status == .tooManyRequests
        return answer
    }

    /// Answers a client that sends too many requests. Nothing is read for it.
    private func tooMany(_ wait: Int) -> ListenerAnswer {
        let remedy = "Load the page again in \(QuantityText.count(Int64(wait), "second"))."
        var answer = html(
            Made(
                .problem, PageFrame(title: "Too many requests"),
                ["words": "More was asked from here than one server answers.", "remedy": .text(remedy)]),
            .tooManyRequests, headers: [("Retry-After", "\(wait)")])
        answer.pauses = true
        return answer
    }

    /// Answers an error. Details of the database and the file system are only in the operator's log.
    private func problem(_ error: ServerError, _ viewer: Viewer?) async -> ListenerAnswer {
        let status: HTTPResponseStatus =
            switch error.code {
            case .notFound: .notFound
            case .invalidValue: .badRequest
            default: .serviceUnavailable
            }
        let title =
            switch status {
            case .notFound: "Not found"
            case .badRequest: "Not a page"
            default: "Not now"
            }
        let words =
            switch status {
            case .notFound: "There is no such page, or you may not see it."
            case .badRequest: "The address of this page is wrong."
            default: "The server cannot show this page: \(error.code.rawValue)."
            }
        let remedy =
            status == .serviceUnavailable ? "Run holdfast-server doctor." : "Follow a link of another page."
        let frame = PageFrame(
            title: title, viewer: viewer, notices: (try? await notices.notices(in: catalog)) ?? [],
            made: try? await catalog.now())
        return html(
            Made(.problem, frame, ["words": .text(words), "remedy": .text(remedy)]), status,
            headers: status == .serviceUnavailable ? [("Retry-After", "30")] : [])
    }
}
