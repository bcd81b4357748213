// Periodic tasks of the open page.

const DEADLINE_MS = 15000,
  BUILD_MS = 300000;

/**
 * leaseMinutes: of the campaign. onNewBuild(): called if another version of the page is installed.
 */
export function keepUp({
  leaseMinutes,
  api,
  build,
  buildUrl,
  tick,
  heartbeat,
  onNewBuild,
}) {
  setInterval(tick, DEADLINE_MS);
  const beat = Math.max(5, Math.min(60, (leaseMinutes * 60) / 4)) * 1000;
  setInterval(() => heartbeat(beat), beat);
  setInterval(async () => {
    const now = await api.get(buildUrl).catch(() => null);
    if (now && now.build !== build) onNewBuild();
  }, BUILD_MS);
}
