/** State of a thing, which decides its color and icon. */
export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'quiet'
