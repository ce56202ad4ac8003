import type { Wording } from './wording.ts'

const approve = 'Bestätigen'
const deny = 'Ablehnen'
const startAgain = 'Um dich anzumelden, kehre zur App zurück und beginne von vorn.'
const nextOne = (start: string | null) =>
  start === null
    ? 'Versuche es in ein paar Minuten erneut.'
    : `Du kannst es ab ${start} erneut versuchen.`

/** Addresses the reader as "du". */
export const german: Wording = {
  approve,
  deny,
  question: (app) => `Bei ${app} anmelden?`,
  facts: { label: 'Wo', device: 'Gerät', address: 'IP-Adresse', time: 'Uhrzeit' },
  on: 'auf',
  warning: [
    'Fahre nur fort, wenn du diese Anmeldung gerade selbst gestartet hast.',
    'Der Support bittet dich niemals, eine Anmeldung zu bestätigen. Wer dich darum bittet, will sich Zugriff auf dein Konto verschaffen.',
  ],
  tapNumber: `Tippe auf die Zahl, die dort steht, wo du dich anmeldest. Wenn sie nicht dabei ist, ist es nicht deine Anmeldung: Tippe auf „${deny}“.`,
  tapButton: `Bist du das? Tippe auf „${approve}“. Wenn du dir nicht sicher bist, tippe auf „${deny}“.`,

  outcomes: {
    approved: ({ app, time }) =>
      `Du hast dich um ${time} bei ${app} angemeldet.\nKehre zur App zurück.`,
    denied: ({ app, time }) =>
      `Du hast um ${time} eine Anmeldung bei ${app} abgelehnt.\nEs wurde niemand angemeldet. Du musst nichts weiter tun.`,
    mismatched: ({ app }) =>
      `Falsche Zahl. Die Anmeldung bei ${app} wurde abgelehnt.\nWenn du es warst, kehre zur App zurück und beginne von vorn.`,
    expired: ({ app }) => `Diese Anmeldung bei ${app} ist abgelaufen.\n${startAgain}`,
  },

  notices: {
    approved: 'Du bist angemeldet.',
    denied: 'Anmeldung abgelehnt.',
    mismatched: 'Falsche Zahl. Anmeldung abgelehnt.',
    expired: 'Diese Anmeldung ist abgelaufen. Beginne von vorn.',
    over: 'Diese Anmeldung wurde bereits beantwortet.',
    not_yours: 'Diese Anmeldung gehört einer anderen Person.',
  },

  replies: {
    hello: ({ app }) =>
      `Dieser Bot meldet dich bei ${app} an.\nUm dich anzumelden, beginne in der App und folge ihrem Link zu diesem Bot.`,
    unknown_link: () => `Dieser Link funktioniert nicht.\n${startAgain}`,
    expired_link: () => `Dieser Link ist abgelaufen.\n${startAgain}`,
    taken_link: () =>
      `Dieser Link wurde bereits von einer anderen Person geöffnet und funktioniert deshalb nicht für dich.\n${startAgain}`,
    answered_link: () => `Diese Anmeldung ist beendet.\n${startAgain}`,
    cooling_down: ({ app, start }) =>
      `Vor Kurzem wurde hier eine Anmeldung bei ${app} abgelehnt.\nZu deinem Schutz sind neue Anmeldungen pausiert. ${nextOne(start)}`,
    too_many: ({ app, start }) =>
      `Zu viele Anmeldungen bei ${app} in kurzer Zeit.\n${nextOne(start)}`,
  },
}
