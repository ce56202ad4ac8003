import type { Wording } from './wording.ts'

const approve = 'Approve'
const deny = 'Deny'
const startAgain = 'To sign in, go back to the app and start again.'
const nextOne = (start: string | null) =>
  start === null ? 'Try again in a few minutes.' : `You can try again from ${start}.`

export const english: Wording = {
  approve,
  deny,
  question: (app) => `Sign in to ${app}?`,
  facts: { label: 'Where', device: 'Device', address: 'IP address', time: 'Time' },
  on: 'on',
  warning: [
    'Continue only if you just started this sign-in yourself.',
    "Support will never ask you to approve a sign-in. If someone asks you to, they're trying to get into your account.",
  ],
  tapNumber: `Tap the number shown where you're signing in. If it isn't listed, the sign-in isn't yours: tap “${deny}”.`,
  tapButton: `Is this you? Tap “${approve}”. If you're not sure, tap “${deny}”.`,

  outcomes: {
    approved: ({ app, time }) => `You signed in to ${app} at ${time}.\nGo back to the app.`,
    denied: ({ app, time }) =>
      `You denied a sign-in to ${app} at ${time}.\nNo one was signed in. You don't need to do anything else.`,
    mismatched: ({ app }) =>
      `Wrong number. The sign-in to ${app} was denied.\nIf it was you, go back to the app and start again.`,
    expired: ({ app }) => `This sign-in to ${app} has expired.\n${startAgain}`,
  },

  notices: {
    approved: "You're signed in.",
    denied: 'Sign-in denied.',
    mismatched: 'Wrong number. Sign-in denied.',
    expired: 'This sign-in has expired. Start again.',
    over: 'This sign-in has already been answered.',
    not_yours: 'This sign-in belongs to someone else.',
  },

  replies: {
    hello: ({ app }) =>
      `This bot signs you in to ${app}.\nTo sign in, start in the app and follow its link to this bot.`,
    unknown_link: () => `This link doesn't work.\n${startAgain}`,
    expired_link: () => `This link has expired.\n${startAgain}`,
    taken_link: () =>
      `This link was already opened by someone else, so it doesn't work for you.\n${startAgain}`,
    answered_link: () => `This sign-in has ended.\n${startAgain}`,
    cooling_down: ({ app, start }) =>
      `A sign-in to ${app} was recently denied here.\nTo protect you, new sign-ins are paused. ${nextOne(start)}`,
    too_many: ({ app, start }) => `Too many sign-ins to ${app} in a short time.\n${nextOne(start)}`,
  },
}
