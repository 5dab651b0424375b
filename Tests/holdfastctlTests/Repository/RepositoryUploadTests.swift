import Foundation
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// scripts/publish-s3 with a store that honors the preconditions of Amazon S3 (moto 5.2.1 does both).
@Suite(
    "Uploading a repository of pins to S3", .timeLimit(.minutes(15)),
    .needs(.s3Tools))
struct RepositoryUploadTests {
    private func apps(_ store: S3Store, of site: SigningSite) throws -> [RepositoryApp] {
        let root = try Data(contentsOf: site.published.appending(path: "metadata/1.root.json"))
        return try [false, true].map {
            try RepositoryApp(store, root: root, name: SigningSite.name, fetchingFiles: $0)
        }
    }

    /// Puts another `aws` into a folder.
    private func script(_ site: SigningSite, _ folder: String, _ text: String) async throws {
        let folder = site.folder.appending(path: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        try await ExecutableScript.write("#!/bin/bash\n\(text)\n", to: folder.appending(path: "aws"))
    }

    @Test("What is published arrives with its headers, clients get in by the bucket, and what is there already stays")
    func uploaded() async throws {
        try await SigningSite.with { site in
            try await S3Store.with(site.folder) { store in
                let (leaf, backup, next) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"), try site.leaf("n.pem"))
                try await site.beginPublishedRepository(active: leaf, backup: backup)
                let first = try await store.upload()
                #expect(first.status == 0, "\(first.output)\(first.errors)")
                #expect(first.lines.map { $0.prefix(8) } == Array(repeating: "uploaded", count: 6))
                let apps = try apps(store, of: site)
                for app in apps {
                    #expect(try await app.isLetIn(by: leaf, trusting: site.root))
                    #expect(try await !app.isLetIn(by: next, trusting: site.root))
                }
                let headers = try await store.shell(
                    """
                    for key in metadata/1.root.json metadata/timestamp.json bundle.json; do
                        aws s3api head-object --bucket pins --key $key --query '[ContentType,CacheControl]' --output text
                    done
                    """)
                #expect(
                    headers.lines == [
                        "application/json\tpublic, max-age=31536000, immutable", "application/json\tno-cache",
                        "application/json\tpublic, max-age=60, must-revalidate",
                    ], "\(headers.errors)")
                // The manual's daily commands, without a host that could be asked.
                let daily = try OperatingManual.block("repository-upload").replacing(
                    "--no-shipped-pins", with: "--offline"
                )
                .replacing("holdfastctl", with: "\"$HOLDFASTCTL\"")
                .replacing("scripts/publish-s3 my-bucket", with: "\"$UPLOAD\" pins")
                let renewed = try await store.shell(daily)
                #expect(renewed.status == 0, "\(renewed.output)\(renewed.errors)")
                #expect(renewed.lines.count { $0.hasPrefix("uploaded") } == 2, "\(renewed.output)")
                #expect(try await store.content(of: "metadata/timestamp.json").contains("\"version\":2"))

                try await site.preparePins(active: next, backup: backup)
                try await site.prepareOnlineKey(2)
                try await site.publishRepository(by: "online-2.pem", "online.pem")
                let second = try await store.upload()
                #expect(second.lines.count { $0.hasPrefix("uploaded") } == 6, "\(second.output)\(second.errors)")
                #expect(second.lines.first == "there already  metadata/1.root.json")
                for app in apps + (try self.apps(store, of: site)) {
                    #expect(try await app.isLetIn(by: next, trusting: site.root))
                }
                let third = try await store.upload()
                #expect(third.status == 0 && third.lines.count == 7)
                #expect(third.lines.allSatisfy { $0.hasPrefix("there already") })
                let client = try await store.shell(
                    """
                    mkdir downloads
                    "$HOLDFASTCTL" tuf --metadata-dir kept init site/public/metadata/1.root.json
                    "$HOLDFASTCTL" tuf --metadata-dir kept --metadata-url \(store.url)metadata \\
                        --target-base-url \(store.url)targets --target-dir downloads --target-name pins.json download
                    """)
                #expect(client.status == 0 && client.output.hasPrefix("pins.json: "), "\(client.errors)")
            }
        }
    }

    @Test("Killed after any object, it leaves a bucket that clients verify, and the next run goes on from there")
    func interrupted() async throws {
        try await SigningSite.with { site in
            try await S3Store.with(site.folder) { store in
                let (leaf, backup, next) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"), try site.leaf("n.pem"))
                try await site.beginPublishedRepository(active: leaf, backup: backup)
                #expect(try await store.upload().status == 0)
                let old = try apps(store, of: site)
                for app in old { try await app.update() }
                try await site.preparePins(active: next, backup: backup)
                try await site.prepareOnlineKey(2)
                try await site.publishRepository(by: "online-2.pem", "online.pem")
                try await script(
                    site, "killing",
                    """
                    "$AWS" "$@" || exit $?
                    if [[ $2 == put-object ]]; then kill -9 "$PPID"; fi
                    """)
                var kills = 0
                while true {
                    let run = try await store.upload(through: "killing")
                    for app in old + (try apps(store, of: site)) { try await app.update() }
                    guard run.status != 0 else { break }
                    kills += 1
                    #expect(run.status == 9, "\(run.output)\(run.errors)")
                    try #require(kills < 10)
                }
                #expect(kills == 6)
                for app in old { #expect(try await app.isLetIn(by: next, trusting: site.root)) }
            }
        }
    }

    @Test("Of two publishers at once the second is refused, also when it looked before the first had written")
    func race() async throws {
        try await SigningSite.with { site in
            try await S3Store.with(site.folder) { store in
                let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
                try await site.beginPublishedRepository(active: leaf, backup: backup)
                #expect(try await store.upload().status == 0)
                let file = FileManager.default
                try file.copyItem(at: site.folder.appending(path: "site"), to: site.folder.appending(path: "other"))
                for folder in ["site", "other"] {
                    try await site.repository("renew", folder, "--key", "online.pem")
                }
                // The first one goes through between what the second has seen and what it writes.
                let plan = try await site.repository("publish", "site", "--plan", "--json")
                try site.write("first.plan", plan.output)
                try await script(
                    site, "racing",
                    """
                    if [[ $2 == put-object && ! -e raced ]]; then
                        touch raced
                        PATH="$(dirname "$AWS"):$PATH" "$UPLOAD" pins <first.plan >&2
                    fi
                    exec "$AWS" "$@"
                    """)
                let late = try await store.upload("other", through: "racing")
                #expect(late.status == 1, "\(late.output)\(late.errors)")
                #expect(late.errors.contains("somebody else has written metadata/timestamp.json meanwhile"))
                func isOfFirst() async throws -> Bool {
                    var isEqual = true
                    for path in ["metadata/timestamp.json", "bundle.json"] {
                        isEqual = try await store.content(of: path) == site.text("site/public/\(path)") && isEqual
                    }
                    return isEqual
                }
                #expect(try await isOfFirst())
                let again = try await store.upload("other")
                #expect(again.status == 1 && again.errors.contains("which this folder never had"), "\(again.errors)")
                #expect(try await isOfFirst())
                // From what the bucket has it goes on.
                try file.removeItem(at: site.folder.appending(path: "other/public"))
                try file.copyItem(at: site.published, to: site.folder.appending(path: "other/public"))
                try await site.repository("renew", "other", "--key", "online.pem")
                let next = try await store.upload("other")
                #expect(next.status == 0, "\(next.output)\(next.errors)")
                for app in try apps(store, of: site) { #expect(try await app.isLetIn(by: leaf, trusting: site.root)) }
            }
        }
    }

    @Test("A plan of what is not written, one that is out of date and one for no bucket upload nothing, and say why")
    func refused() async throws {
        try await SigningSite.with { site in
            try await S3Store.with(site.folder) { store in
                let (leaf, backup) = (try site.leaf("leaf.pem"), try site.leaf("b.pem"))
                try await site.beginRepository(active: leaf, backup: backup)
                func run(_ script: String, status: Int32, _ text: String) async throws {
                    let run = try await store.shell(script)
                    #expect(run.status == status && run.output.isEmpty, "\(script): \(run.output)\(run.errors)")
                    #expect(run.errors.contains(text), "\(script): \(run.errors)")
                }
                let ahead = try await site.repository(
                    "publish", "site", "--key", "online.pem", "--force", "offline", "--plan", "--json")
                try site.write("ahead.plan", ahead.output)
                try await run("\"$UPLOAD\" pins <ahead.plan", status: 2, "not written yet")
                try await run("echo '{}' | \"$UPLOAD\" pins", status: 2, "expected a plan, version 1")
                try await run("\"$UPLOAD\"", status: 2, "usage:")
                try await site.publishRepository(by: "online.pem")
                let plan = try await site.repository("publish", "site", "--plan", "--json")
                try site.write("site.plan", plan.output)
                try await run("\"$UPLOAD\" elsewhere <site.plan", status: 3, "NoSuchBucket")
                try await site.repository("renew", "site", "--key", "online.pem")
                try await run("\"$UPLOAD\" pins <site.plan", status: 1, "has changed since the plan was made")
            }
        }
    }
}
