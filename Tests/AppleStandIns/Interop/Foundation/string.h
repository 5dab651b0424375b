#pragma once
// The frontend includes it; nothing of it is used.
