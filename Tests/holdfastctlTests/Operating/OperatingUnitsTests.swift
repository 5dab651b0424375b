import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

/// The files for cron, systemd and nginx that the operator's pages print.
@Suite("The operator's manual, what runs by itself", .timeLimit(.minutes(15)))
struct OperatingUnitsTests {
    /// The command of a line for cron, or of a unit's ExecStart.
    private static func command(of text: String) -> String {
        for line in text.split(separator: "\n") {
            if let program = line.firstRange(of: "ExecStart=") {
                return line[program.upperBound...].replacingOccurrences(of: "/usr/local/bin/", with: "")
            }
        }
        return text.split(separator: " ", maxSplits: 5)[5...].joined()
    }

    @Test(
        "is silent while all is well, and says with exit code 1 which host locks clients out",
        arguments: ["cron", "pins.service"])
    func monitoring(_ block: String) async throws {
        try await OperatingSite.with { site in
            let (present, other) = (try site.leaf(), try site.leaf())
            let pin = try Pin.publicKey(of: present.der)
            let file = #"{"schema":1,"hosts":[{"host":"\#(OperatingSite.name)","pins":[{"pin":"\#(pin)"}]}]}"#
            try site.write("bank.pins.json", file)
            let well = try await site.run(block, serving: present, Self.command)
            #expect(well.output.isEmpty && well.errors.isEmpty, "\(well.output) \(well.errors)")
            let ill = try await site.run(block, serving: other, expecting: 1, Self.command)
            #expect(ill.output.contains(OperatingSite.name))
        }
    }

    @Test("signs for ever until it is told to stop, and ends well then")
    func trustServer() async throws {
        try await OperatingSite.with { site in
            let leaf = try site.leaf()
            try await site.run("trust-first", serving: leaf)
            let document = site.folder.appending(path: "output/acme.json.signed")
            try FileManager.default.removeItem(at: document)
            try await site.run("trust-server.service", serving: leaf) { unit in
                """
                \(Self.command(of: unit)) > /dev/null &
                until [ -e output/acme.json.signed ]; do kill -0 $!; done
                kill $!
                wait $!
                """
            }
            #expect(FileManager.default.fileExists(atPath: document.path))
        }
    }

    @Test("renews a repository as a user of its own that owns the folder, after a copy of it was made")
    func renewal() async throws {
        try await OperatingSite.with { site in
            let leaf = try site.leaf()
            try await site.run("first-pins", serving: leaf)
            try await site.run("repository-first", serving: leaf)
            try FileManager.default.removeItem(at: site.folder.appending(path: "offline.pem"))
            try await site.run("renew.service", serving: leaf) { unit in
                let before =
                    unit.split(separator: "\n").first { $0.hasPrefix("ExecStartPre=") }?.dropFirst(13) ?? "false"
                let renewal = Self.command(of: unit).split(separator: " ").dropFirst().joined(separator: " ")
                // Root can become another user, as systemd would; the folder must then be open to all users.
                return """
                    mkdir backup
                    user=() somebody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
                    chmod a+rx "$SITE" "$SITE/tools"
                    if [ "$(id -u)" = 0 ] && "${somebody[@]}" test -x "$HOLDFASTCTL" -a -x "$SITE/tools/holdfastctl"; then
                        chown -R 65534:65534 .
                        chmod 600 online.pem
                        user=("${somebody[@]}")
                    fi
                    "${user[@]}" \(before)
                    "${user[@]}" "$SITE/tools/holdfastctl" \(renewal)
                    test "$(find site/public/metadata/timestamp.json -user "$(ls -ldn site | awk '{ print $3 }')")" != ""
                    tar -tzf backup/site.tar.gz | grep site/public/metadata/timestamp.json > /dev/null
                    """
            }
        }
    }

    @Test("is served by nginx with the headers that caches need", .needs(.nginx))
    func nginx() async throws {
        try await OperatingSite.with { site in
            try FileManager.default.createDirectory(
                at: site.folder.appending(path: "output"), withIntermediateDirectories: false)
            try site.write("output/acme.json.signed", "document")
            let location = try OperatingManual.block("nginx.conf")
                .replacingOccurrences(of: "/srv/pins", with: site.folder.path)
            let socket = site.folder.appending(path: "s").path
            let scratch = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(site.folder.path)/\($0);" }.joined(separator: " ")
            let user = getuid() == 0 ? "user root;" : ""
            try site.write(
                "nginx.conf",
                """
                \(user) pid \(site.folder.path)/pid; error_log \(site.folder.path)/log; events {}
                http { access_log off; \(scratch) server { listen unix:\(socket);
                \(location)
                } }
                """)
            let run = try await CommandRun.run(
                URL(filePath: "/bin/bash"),
                [
                    "-euc",
                    """
                    nginx -c "$PWD/nginx.conf" -p "$PWD"
                    trap 'nginx -c "$PWD/nginx.conf" -p "$PWD" -s quit' EXIT
                    curl --silent --show-error --include --unix-socket "$PWD/s" http://pins/pins/acme.json.signed
                    """,
                ], environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], in: site.folder)
            #expect(run.status == 0, "\(run.errors)")
            let head = run.output.lowercased()
            #expect(head.contains("cache-control: public, max-age=60, must-revalidate"), "\(run.output)")
            #expect(head.contains("content-type: application/pkcs7-mime") && head.contains("etag:"), "\(run.output)")
            #expect(run.output.hasSuffix("document"))
        }
    }

    @Test("writes metrics for the textfile collector beside its answer")
    func metrics() async throws {
        try await OperatingSite.with { site in
            let present = try site.leaf()
            try await site.run("first-pins", serving: present)
            try await site.run("cron-metrics", serving: present) {
                Self.command(of: $0).replacing("/var/lib/node_exporter", with: site.folder.path)
            }
            let metrics = try String(contentsOf: site.folder.appending(path: "pins.prom"), encoding: .utf8)
            #expect(metrics.contains(OperatingSite.name), "\(metrics)")
        }
    }

    @Test(
        "has a user that owns the folder and the online key, which nobody else can read",
        .needs(.accounts), .needs(.gnuTools))
    func serviceUser() async throws {
        try await OperatingSite.with { site in
            let present = try site.leaf()
            for block in ["first-pins", "repository-first"] { try await site.run(block, serving: present) }
            let accounts = try ["/etc/passwd", "/etc/group"].map { try Data(contentsOf: URL(filePath: $0)) }
            try await Self.giveAccounts(to: site)
            let backup = try OperatingManual.block("renew.service").split(separator: "\n")
                .first { $0.hasPrefix("ExecStartPre=") }?.dropFirst(13)
            let run = try await site.run("service-user", serving: present) { block in
                """
                \(Self.asService(block, in: site))
                service \(backup ?? "false")
                service test -r online.pem -a -w site/public/metadata/timestamp.json -a -w site
                ! somebody test -x .
                stat -c '%a %n' . backup online.pem
                ls
                """
            }
            #expect(run.lines.prefix(3) == ["750 .", "750 backup", "600 online.pem"], "\(run.output)")
            #expect(run.lines.dropFirst(3) == ["backup", "online.pem", "site"], "\(run.output)")
            let home = try String(contentsOf: site.folder.appending(path: "root/etc/passwd"), encoding: .utf8)
            #expect(home.contains("/usr/sbin/nologin"), "\(home)")
            #expect(try ["/etc/passwd", "/etc/group"].map { try Data(contentsOf: URL(filePath: $0)) } == accounts)
        }
    }

    @Test(
        "has a user that signs for the trust server with a key that nobody else can read",
        .needs(.accounts), .needs(.gnuTools))
    func trustServerUser() async throws {
        try await OperatingSite.with { site in
            let leaf = try site.leaf()
            try await site.run("trust-first", serving: leaf)
            try await Self.giveAccounts(to: site)
            let publish = Self.command(of: try OperatingManual.block("trust-server.service"))
                .replacing(" --every 5m", with: "").split(separator: " ").dropFirst().joined(separator: " ")
            let run = try await site.run("trust-server-user", serving: leaf) { block in
                """
                \(Self.asService(block, in: site))
                service test -r data/acme.key -a -w data -a -w data/acme.hosts.json -a -w output
                ! somebody test -r data/acme.key
                ! somebody test -x data
                somebody test -r output/acme.json.signed
                stat -c '%a %n' data data/acme.key
                chmod a+rx "$SITE/tools"
                chmod a+r "$SITE/root.pem"
                service test -x "$HOLDFASTCTL" -a -x "$SITE/tools/holdfastctl" || exit 0
                rm output/acme.json.signed
                service "$SITE/tools/holdfastctl" \(publish) > /dev/null
                test "$(stat -c %u output/acme.json.signed data/acme.hosts.json | uniq)" = "$user"
                """
            }
            #expect(run.lines == ["700 data", "600 data/acme.key"], "\(run.output)")
        }
    }

    /// Gives the programs that make accounts and use them a folder of the test, where only they look for accounts.
    private static func giveAccounts(to site: OperatingSite) async throws {
        let numbers = #"""
            #!/bin/bash
            user=$(awk -F : '$1 == "holdfast" { print $3 }' "$SITE/root/etc/passwd")
            group=$(awk -F : '$1 == "holdfast" { print $3 }' "$SITE/root/etc/group")
            option="" arguments=()
            for argument; do
                case "$option $argument" in
                    "-g holdfast") argument=$group ;;
                    "-o holdfast") argument=$user ;;
                    *" holdfast:holdfast") argument=$user:$group ;;
                esac
                arguments+=("$argument") option=$argument
            done
            exec "/usr/bin/${0##*/}" "${arguments[@]}"
            """#
        for name in ["install", "chown"] {
            try await ExecutableScript.write(numbers, to: site.folder.appending(path: "tools/\(name)"))
        }
        try await ExecutableScript.write(
            "#!/bin/bash\nexec /usr/sbin/useradd --prefix \"$SITE/root\" \"$@\"\n",
            to: site.folder.appending(path: "tools/useradd"))
    }

    /// A block that makes an account and gives it a folder, and after it, in that folder, ways to be the account and to
    /// be another user.
    private static func asService(_ block: String, in site: OperatingSite) -> String {
        """
        mkdir -p root/etc
        touch root/etc/{passwd,group,shadow,gshadow}
        ! [ -e /etc/login.defs ] || cp /etc/login.defs root/etc
        \(block.replacing("/srv/pins", with: "\(site.folder.path)/srv/pins"))
        chmod a+x "$SITE" srv
        cd srv/pins
        user=$(stat -c %u .) group=$(stat -c %g .)
        service() { setpriv --reuid="$user" --regid="$group" --clear-groups "$@"; }
        somebody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
        test "$user" != 0
        """
    }

    @Test("is a set of units that systemd reads without a word, and the timer checks every hour")
    func units() async throws {
        let known: [String: Set<String>] = [
            "Unit": ["Description", "Wants", "After", "OnFailure"],
            "Service": [
                "Type", "User", "WorkingDirectory", "ExecStartPre", "ExecStart", "DynamicUser", "Restart",
                "SuccessExitStatus",
            ],
            "Timer": ["OnCalendar", "RandomizedDelaySec", "Persistent"], "Install": ["WantedBy"],
        ]
        try await withTemporaryFolder { folder in
            let names = [
                "pins.service", "pins.timer", "trust-server.service", "renew.service", "install-certificate.service",
            ]
            for name in names + ["pins-alarm.service"] {
                let unit = try OperatingManual.block(name)
                var section = ""
                for line in unit.split(separator: "\n") {
                    if line.hasPrefix("[") {
                        section = String(line.dropFirst().dropLast())
                    } else {
                        let key = String(line.prefix { $0 != "=" })
                        #expect(known[section]?.contains(key) == true, "\(name): \(line) in \(section)")
                    }
                }
                // The programs that a unit starts must exist.
                let runnable = unit.replacing("/usr/local/bin/holdfastctl", with: "/bin/true")
                    .replacing("/usr/local/sbin/install-certificate", with: "/bin/true")
                let file = name == "pins-alarm.service" ? "pins-alarm@.service" : name
                try Data(runnable.utf8).write(to: folder.appending(path: file))
            }
            let timer = try OperatingManual.block("pins.timer").split(separator: "\n")
            for line in ["OnCalendar=hourly", "Persistent=true", "WantedBy=timers.target"] {
                #expect(timer.contains(Substring(line)), "\(timer)")
            }
            // Where there is no systemd, its keys were compared at least.
            guard ForeignProgram.systemdAnalyze.runsPart() else { return }
            let analyze = try #require(ForeignPeers.systemdAnalyze)
            let run = try await CommandRun.run(analyze, ["verify"] + names.map { "./\($0)" }, in: folder)
            let words = (run.output + run.errors).split(separator: "\n")
                .filter { line in (names + ["pins-alarm"]).contains { line.contains($0) } }
            #expect(run.status == 0 && words.isEmpty, "\(run.output)\(run.errors)")
        }
    }

    @Test("tells somebody which unit failed, with what it said, and each unit that runs once has it told")
    func alarm() async throws {
        try await OperatingSite.with { site in
            for (name, script) in [("systemctl", "echo \"$@\""), ("mail", "{ echo \"$@\"; cat; } > \"$SITE/mail\"")] {
                try await ExecutableScript.write(
                    "#!/bin/sh\n\(script)\n", to: site.folder.appending(path: "tools/\(name)"))
            }
            try await site.run("pins-alarm.service", serving: try site.leaf()) {
                Self.command(of: $0).replacing("%i", with: "pins.service").replacing("%H", with: "here")
            }
            let mail = try String(contentsOf: site.folder.appending(path: "mail"), encoding: .utf8)
            #expect(mail == "-s pins.service failed on here root\nstatus --full --no-pager pins.service\n", "\(mail)")
            for unit in ["pins.service", "renew.service"] {
                #expect(try OperatingManual.block(unit).contains("\nOnFailure=pins-alarm@%n.service\n"), "\(unit)")
            }
        }
    }
}
