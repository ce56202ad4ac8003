import { expect, test } from 'bun:test'
import { deviceOf } from '../../src/platform/device.ts'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const APPLE = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const CHROME = `${WEBKIT} Chrome/126.0.0.0`
const WINDOWS = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36`
const INTEL = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)'
const ANDROID = `Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT}`
const IPHONE = `Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) ${APPLE}`
const GECKO = 'rv:127.0) Gecko/20100101 Firefox/127.0'

test.each<[string | null, string, string]>([
  ['Chrome', 'Windows', WINDOWS],
  ['Chrome', 'Android', `${ANDROID} Chrome/126.0.0.0 Mobile Safari/537.36`],
  ['Chrome', 'iPhone', `${IPHONE} CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1`],
  ['Safari', 'iPhone', `${IPHONE} Version/17.5 Mobile/15E148 Safari/604.1`],
  ['Safari', 'macOS', `${INTEL} ${APPLE} Version/17.5 Safari/605.1.15`],
  ['Firefox', 'Linux', `Mozilla/5.0 (X11; Ubuntu; Linux x86_64; ${GECKO}`],
  ['Firefox', 'Android', 'Mozilla/5.0 (Android 14; Mobile; rv:127.0) Gecko/127.0 Firefox/127.0'],
  ['Edge', 'Windows', `${WINDOWS} Edg/126.0.0.0`],
  ['Opera', 'Windows', `${WINDOWS} OPR/111.0.0.0`],
  ['Samsung Internet', 'Android', `${ANDROID} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile`],
  [null, 'Android', 'Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/AP1A.240505.005)'],
  [null, 'Windows', 'Mozilla/5.0 (Windows NT; Windows NT 10.0) PowerShell/7.4.2'],
])('A device is named as people know it: %p on %p', (browser, system, userAgent) => {
  expect(deviceOf(userAgent)).toEqual({ browser, system } as ReturnType<typeof deviceOf>)
})

test('An unknown user agent has no name, nor one longer than browsers send', () => {
  const bots = [
    'Mozilla/5.0 (compatible; New/1.0)',
    'Googlebot/2.1 (+http://www.google.com/bot.html)',
  ]
  const hostile = [
    'constructor/1.0 (x)',
    'Your bank/1.0 (tap Approve)',
    `${'x'.repeat(512)} ${WINDOWS}`,
  ]
  for (const userAgent of [null, '', 'curl/8.8.0', ...bots, ...hostile])
    expect(deviceOf(userAgent), `${userAgent}`).toBeNull()
})

const PIECES =
  `Mozilla/5.0_( Macintosh _FxiOS opt/1 opr/ version/1 windows_nt_1 like_android android_1.
  iphone ipad ipod os_1_ mac_os_x_1. webos/1 blackberry1/ rim_tablet_os_ nexus_7 slackbot-a
  linespider- yahoo__ edga/ _Ddg/1. rv:1 se_1. se_2.x chrome/1 safari 1 1. _1 . _ / ( )
  constructor/1_ Approve/1_ os_1_ \ud800 😀`
    .split(/\s+/)
    .map((piece) => piece.replaceAll('_', ' '))

test('A hostile user agent brings no name of its own and takes no longer than another', () => {
  const texts = PIECES.flatMap((head) =>
    PIECES.flatMap((tail) => [
      (head + tail.repeat(512)).slice(0, 512),
      (head + tail).repeat(512).slice(0, 512),
    ]),
  )
  const msFor = (text: string) => {
    const begun = performance.now()
    for (const name of Object.values(deviceOf(text) ?? {}))
      expect(name ?? '').not.toMatch(/approve|constructor|[^\w ]/i)
    return performance.now() - begun
  }
  // Other work of the machine slows down single runs.
  const isSlow = (text: string) => Array.from({ length: 20 }).every(() => msFor(text) > 5)
  expect(texts.filter(isSlow)).toEqual([])
})
