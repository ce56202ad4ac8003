import type { Device } from '../../../platform/device.ts'
import { HEAPS, UNSAFE_IN_NAME } from '../../../platform/unsafe-characters.ts'
import type { Language } from '../language.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import { shownStart, shownTime } from './times.ts'
import type { CallbackResult, LoginOutcome, ReplyKind, Wording } from './wording.ts'

/** What a prompt shows about a sign-in. All of it but `app` and `askedAt` comes from the client and may be forged. */
export interface Asking {
  app: string
  label: string | null
  device: Device | null
  address: string | null
  askedAt: number
  /** Whether the prompt offers numbers instead of an Approve button. */
  match: boolean
}

const WORDINGS: Record<Language, Wording> = { en: english, de: german }

/** Maximum length of names and labels, in grapheme clusters. */
const MAX_LENGTH = 60
/** The same in code units: a grapheme cluster may consist of any number of them, and messages are limited. */
const MAX_UNITS = 2 * MAX_LENGTH

/** Where text could form a URL, mention, hashtag or command, a link that seems to be the bot's. */
const LINK_JOINTS = /(?<=[.:/@#$+])(?=[^\s.:/@#$+])/gu
/** Invisible and without a line break, but it ends a URL. */
const WORD_JOINER = '\u2060'

export type Texts = ReturnType<typeof createTexts>

/** All texts of a bot in one language, as plain text regardless of the names in them. */
export function createTexts(language: Language) {
  const wording = WORDINGS[language]

  function facts({ label, device, address, askedAt }: Asking): string[] {
    const known = {
      label: shown(label ?? ''),
      device: [device?.browser, device?.system].filter(Boolean).join(` ${wording.on} `),
      address: shown(address ?? ''),
      time: shownTime(askedAt),
    }
    return (['label', 'device', 'address', 'time'] as const)
      .filter((fact) => known[fact] !== '')
      .map((fact) => `${wording.facts[fact]}: ${known[fact]}`)
  }

  return {
    /** The labels of the buttons beneath a prompt. */
    approve: wording.approve,
    deny: wording.deny,

    /** The message that asks whether to sign in, with what is known about the client. */
    prompt: (asking: Asking): string =>
      [
        [wording.question(shownApp(asking.app))],
        facts(asking),
        wording.warning,
        [asking.match ? wording.tapNumber : wording.tapButton],
      ]
        .map((lines) => lines.join('\n'))
        .join('\n\n'),

    /** Replaces a prompt once the sign-in has ended. */
    outcome: (outcome: LoginOutcome, { app, at }: { app: string; at: number }): string =>
      wording.outcomes[outcome]({ app: shownApp(app), time: shownTime(at) }),

    /** Shown for a moment after a button was tapped. */
    notice: (result: CallbackResult): string => wording.notices[result],

    /** The reply to a message. `until`: when the next sign-in is possible, if the user has to wait. */
    reply: (kind: ReplyKind, { app, until }: { app: string; until?: number }): string =>
      wording.replies[kind]({
        app: shownApp(app),
        start: until === undefined ? null : shownStart(until),
      }),
  }
}

const shownApp = (name: string): string => shown(name) || '…'

/** Foreign text made safe for use within a line: one line, bounded in length, and without links. */
function shown(text: string): string {
  const tidy = text
    .slice(0, MAX_LENGTH * MAX_UNITS)
    .replaceAll(UNSAFE_IN_NAME, ' ')
    .replaceAll(HEAPS, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return bounded(tidy).replaceAll(LINK_JOINTS, WORD_JOINER)
}

function bounded(text: string): string {
  let [kept, count] = ['', 0]
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    count += 1
    if (count > MAX_LENGTH || kept.length + segment.length > MAX_UNITS) return `${kept.trimEnd()}…`
    kept += segment
  }
  return kept
}
