import Bowser from 'bowser'

/** The known parts of the device of a sign-in. Both names are from the lists below. */
export type Device =
  | { browser: string; system: string | null }
  | { browser: string | null; system: string }

/** Twice the length of real user agents. Longer ones are truncated. */
const MAX_LENGTH = 512

/** Display names by bowser's names. Others aren't used: the client can set them to any text. */
const BROWSERS: ReadonlyMap<string, string> = new Map([
  ['Amazon Silk', 'Silk'],
  ['Brave', 'Brave'],
  ['Chrome', 'Chrome'],
  ['Chromium', 'Chromium'],
  ['DuckDuckGo', 'DuckDuckGo'],
  ['Epiphany', 'Epiphany'],
  ['Firefox', 'Firefox'],
  ['Focus', 'Firefox Focus'],
  ['Google Search', 'Google app'],
  ['HeyTap Browser', 'HeyTap Browser'],
  ['Internet Explorer', 'Internet Explorer'],
  ['Ladybird', 'Ladybird'],
  ['LibreWolf', 'LibreWolf'],
  ['Maxthon', 'Maxthon'],
  ['Microsoft Edge', 'Edge'],
  ['Miui', 'Mi Browser'],
  ['NAVER Whale Browser', 'Whale'],
  ['Opera', 'Opera'],
  ['Opera Touch', 'Opera'],
  ['Pale Moon', 'Pale Moon'],
  ['Puffin', 'Puffin'],
  ['QQ Browser', 'QQ Browser'],
  ['Safari', 'Safari'],
  ['Samsung Internet for Android', 'Samsung Internet'],
  ['SeaMonkey', 'SeaMonkey'],
  ['Sogou Browser', 'Sogou Browser'],
  ['UC Browser', 'UC Browser'],
  ['Vivaldi', 'Vivaldi'],
  ['Vivo Browser', 'Vivo Browser'],
  ['WeChat', 'WeChat'],
  ['Yandex Browser', 'Yandex Browser'],
])

const SYSTEMS: ReadonlyMap<string, string> = new Map([
  ['Android', 'Android'],
  ['BlackBerry', 'BlackBerry'],
  ['Chrome OS', 'ChromeOS'],
  ['HarmonyOS', 'HarmonyOS'],
  ['iOS', 'iOS'],
  ['Linux', 'Linux'],
  ['macOS', 'macOS'],
  ['PlayStation 4', 'PlayStation 4'],
  ['Roku', 'Roku'],
  ['Tizen', 'Tizen'],
  ['WebOS', 'webOS'],
  ['Windows', 'Windows'],
  ['Windows Phone', 'Windows Phone'],
])

/** Apple devices have better known names than their system. */
const APPLE_MODELS: ReadonlyMap<string, string> = new Map([
  ['ipad', 'iPad'],
  ['iphone', 'iPhone'],
  ['ipod', 'iPod'],
])

/** The device in a user agent; null if neither its browser nor its system is in the lists. */
export function deviceOf(userAgent: string | null): Device | null {
  if (!userAgent) return null
  const parser = Bowser.getParser(userAgent.slice(0, MAX_LENGTH), true)
  const browser = BROWSERS.get(parser.getBrowserName()) ?? null
  const system = systemOf(parser)
  if (system !== null) return { browser, system }
  return browser === null ? null : { browser, system }
}

function systemOf(parser: Bowser.Parser.Parser): string | null {
  const system = SYSTEMS.get(parser.getOSName()) ?? null
  if (system !== 'iOS') return system
  return APPLE_MODELS.get(parser.getPlatform().model?.toLowerCase() ?? '') ?? system
}
