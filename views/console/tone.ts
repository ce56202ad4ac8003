/** The five states there are, and the only reason for a colour. */
export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'quiet'
