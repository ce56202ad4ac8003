import type { Wording } from './wording.ts'

const approve = 'Bestätigen'
const deny = 'Ablehnen'
const beginAgain =
  'Um dich anzumelden, geh dorthin zurück, wo du hergekommen bist, und beginne von vorn.'
const nextOne = (start: string | null) =>
  start === null
    ? 'Die nächste ist in ein paar Minuten möglich.'
    : `Die nächste ist ab ${start} möglich.`

/** Says "du" to people. */
export const german: Wording = {
  approve,
  deny,
  question: (app) => `Bei ${app} anmelden?`,
  facts: { label: 'Wo', device: 'Gerät', address: 'IP-Adresse', time: 'Uhrzeit' },
  on: 'auf',
  warning: [
    'Mach nur weiter, wenn du das gerade selbst begonnen hast.',
    'Das Team bittet dich nie, eine Anmeldung für andere zu bestätigen, und auch sonst sollte das niemand tun. Wer es tut, will in dein Konto.',
  ],
  tapNumber: `Tippe auf die Zahl, die dort steht, wo du dich anmeldest. Ist sie nicht dabei, bist nicht du es, der sich anmeldet: Tippe auf „${deny}“.`,
  tapButton: `Bist du es? Tippe auf „${approve}“. Im Zweifel tippe auf „${deny}“.`,

  outcomes: {
    approved: ({ app, time }) =>
      `Du hast dich um ${time} bei ${app} angemeldet.\nGeh dorthin zurück, wo du hergekommen bist.`,
    denied: ({ app, time }) =>
      `Du hast um ${time} eine Anmeldung bei ${app} abgelehnt.\nNiemand wurde angemeldet. Mehr ist nicht zu tun.`,
    mismatched: ({ app }) =>
      `Das war nicht die richtige Zahl. Niemand wurde bei ${app} angemeldet.\nWenn du es warst, geh dorthin zurück, wo du hergekommen bist, und beginne von vorn.`,
    expired: ({ app }) => `Diese Anmeldung bei ${app} ist abgelaufen.\n${beginAgain}`,
  },

  notices: {
    approved: 'Du bist angemeldet.',
    denied: 'Abgelehnt. Niemand wurde angemeldet.',
    mismatched: 'Nicht die richtige Zahl. Niemand wurde angemeldet.',
    expired: 'Diese Anmeldung ist abgelaufen. Bitte beginne von vorn.',
    over: 'Das ist schon beantwortet.',
    not_yours: 'Diese Anmeldung gilt jemand anderem.',
  },

  replies: {
    hello: ({ app }) =>
      `Dieser Bot meldet dich bei ${app} an.\nUm dich anzumelden, beginne dort und folge dem Link zu diesem Bot.`,
    unknown_link: () => `Dieser Link funktioniert nicht.\n${beginAgain}`,
    expired_link: () => `Dieser Link ist abgelaufen.\n${beginAgain}`,
    taken_link: () =>
      `Diesen Link hat schon jemand anders geöffnet, darum gilt er für dich nicht.\n${beginAgain}`,
    answered_link: () => `Diese Anmeldung ist vorbei.\n${beginAgain}`,
    cooling_down: ({ app, start }) =>
      `Vor Kurzem wurde hier eine Anmeldung bei ${app} abgelehnt.\nZu deiner Sicherheit ist jetzt Pause. ${nextOne(start)}`,
    too_many: ({ app, start }) =>
      `Das waren zu viele Anmeldungen bei ${app} in kurzer Zeit.\n${nextOne(start)}`,
  },
}
