import type { Device } from '../../../platform/device.ts'
import { HEAPS, NAME_TRICKS } from '../../../platform/tricks.ts'
import type { Language } from '../language.ts'
import { english } from './english.ts'
import { german } from './german.ts'
import { shownStart, shownTime } from './times.ts'
import type { Ending, ReplyKind, TapResult, Wording } from './wording.ts'

/** What is known of a sign-in that somebody is asked about; whoever began it may have made it up. */
export interface Asking {
  app: string
  label: string | null
  device: Device | null
  address: string | null
  askedAt: number
  /** Whether there are numbers to choose from, instead of Approve. */
  match: boolean
}

const WORDINGS: Record<Language, Wording> = { en: english, de: german }

/** Where names and labels end, in characters as people count them. */
const LONGEST = 60
/** And in code units: a message has its bounds, and one character can be made of any number. */
const MOST_UNITS = 2 * LONGEST

/**
 * Between a sign and what follows it, where the two could be part of an address, a mention, a tag or
 * a command. Messengers would make a link of it, which then seems to come from the bot.
 */
const LINK_JOINTS = /(?<=[.:/@#$+])(?=[^\s.:/@#$+])/gu
/** Cannot be seen and breaks no line, but no address goes on beyond it. */
const WORD_JOINER = '\u2060'

export type Texts = ReturnType<typeof createTexts>

/** All that a bot says, in one language: plain text, whatever the names in it are. */
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

    /** Asks somebody whether to sign in, and says who wants to. */
    prompt: (asking: Asking): string =>
      [
        [wording.question(shownApp(asking.app))],
        facts(asking),
        wording.warning,
        [asking.match ? wording.tapNumber : wording.tapButton],
      ]
        .map((lines) => lines.join('\n'))
        .join('\n\n'),

    /** Takes the place of a prompt, once there is nothing to answer any more. */
    outcome: (ending: Ending, { app, at }: { app: string; at: number }): string =>
      wording.outcomes[ending]({ app: shownApp(app), time: shownTime(at) }),

    /** Seen for a moment by whoever has tapped a button. */
    notice: (result: TapResult): string => wording.notices[result],

    /** Answers what was no tap. `until`: when the next sign-in is possible, where there is a wait. */
    reply: (kind: ReplyKind, { app, until }: { app: string; until?: number }): string =>
      wording.replies[kind]({
        app: shownApp(app),
        start: until === undefined ? null : shownStart(until),
      }),
  }
}

const shownApp = (name: string): string => shown(name) || '…'

/** Somebody's text for part of a line: it stays on it, does not run over, and leads nowhere. */
function shown(text: string): string {
  const tidy = text
    .slice(0, LONGEST * MOST_UNITS)
    .replaceAll(NAME_TRICKS, ' ')
    .replaceAll(HEAPS, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return bounded(tidy).replaceAll(LINK_JOINTS, WORD_JOINER)
}

function bounded(text: string): string {
  let [kept, count] = ['', 0]
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    count += 1
    if (count > LONGEST || kept.length + segment.length > MOST_UNITS) return `${kept.trimEnd()}…`
    kept += segment
  }
  return kept
}
