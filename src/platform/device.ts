import Bowser from 'bowser'

/** What somebody signs in with, as far as it can be told. Both are names from the lists below. */
export type Device =
  | { browser: string; system: string | null }
  | { browser: string | null; system: string }

/** Real ones are half as long. Whoever sends more has something else in mind. */
const LONGEST = 512

/**
 * What bowser calls browsers, and what people call them. It is a list of what may be said: for what
 * it does not know, bowser answers with text of the user agent, and that is for its sender to choose.
 */
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

/** People know these by the name of what they hold, not by that of its system. */
const APPLE_MODELS: ReadonlyMap<string, string> = new Map([
  ['ipad', 'iPad'],
  ['iphone', 'iPhone'],
  ['ipod', 'iPod'],
])

/** Null where neither browser nor system is among those that can be named. */
export function deviceOf(userAgent: string | null): Device | null {
  if (!userAgent) return null
  const parser = Bowser.getParser(userAgent.slice(0, LONGEST), true)
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
