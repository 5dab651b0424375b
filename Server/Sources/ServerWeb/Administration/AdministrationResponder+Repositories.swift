import PinChanges
import PinPublication
import ServerFoundation
import ServerHTTP
import ServerModel

/// The calls about repositories: prepared drafts, and the signatures of the keys' holders.
extension AdministrationResponder {
    func getDrafts(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        try await showDrafts(of: try call.app())
    }

    func handInDrafts(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.app()
        var fields = try call.fields()
        let body = try await refusing { () async throws(ServerError) in try DraftsBody(&fields) }
        try takeTurn(call)
        _ = try await refusing { [publisher] () async throws(ServerError) in
            try await publisher.take(body.draft, keepingOthers: true, of: app, by: call.actor)
        }
        return try await showDrafts(of: app)
    }

    func prepareDrafts(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let change = try await change(of: call)
        try takeTurn(call)
        try await refusing { [publisher] () async throws(ServerError) in
            _ = try await publisher.draftRepository(change.id, by: call.actor)
        }
        return try await showDrafts(of: change.content.app)
    }

    /// A repeated call changes nothing: prepared drafts keep their signatures.
    func rotateKeys(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.app()
        try takeTurn(call)
        try await refusing { [publisher] () async throws(ServerError) in
            var generator = SystemRandomNumberGenerator()
            _ = try await publisher.replaceOnlineKeys(of: app, by: call.actor, using: &generator)
        }
        return try await showDrafts(of: app)
    }

    func publishRoot(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.app()
        try takeTurn(call)
        let outcome = try await refusing { [publisher] () async throws(ServerError) in
            try await publisher.publishRoot(of: app, by: call.actor)
        }
        return Self.json([
            ("root", .integer(outcome.version)), ("otherKeys", .boolean(outcome.hasOtherKeys)),
            ("problems", AdministrationView.texts(outcome.problems)),
        ])
    }

    private func showDrafts(of app: AppName) async throws(AdministrationError) -> ListenerAnswer {
        let drafts = try await refusing { [publisher] () async throws(ServerError) in
            try await publisher.repositoryDrafts(of: app)
        }
        return Self.json([
            ("changes", AdministrationView.texts(drafts.progress.changes)),
            ("signatures", AdministrationView.texts(drafts.progress.signatures)),
            ("enough", .boolean(drafts.progress.isEnough)),
            (
                "files",
                .array(
                    drafts.files.map { file in
                        .object(["path": .text(file.path), "octets": .text(Base64.encode(file.bytes))])
                    })
            ),
        ])
    }
}
