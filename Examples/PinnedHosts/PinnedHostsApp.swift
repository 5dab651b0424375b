import SwiftUI

/// A list of hosts and what their policies say about them.
@main
struct PinnedHostsApp: App {
    @State private var hosts = HostList()

    var body: some Scene {
        WindowGroup {
            NavigationStack {
                HostListView(hosts: hosts)
                    .navigationTitle("Pinned hosts")
            }
        }
    }
}
